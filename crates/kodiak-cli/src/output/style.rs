//! Decides which colours are used, and whether any are.

use anstyle::{AnsiColor, Style};

use crate::arguments::Color;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const MATCH: Style = color(AnsiColor::Red).bold();
pub(crate) const OK: Style = color(AnsiColor::Green);
pub(crate) const ERROR: Style = color(AnsiColor::Red).bold();
pub(crate) const WARNING: Style = color(AnsiColor::Yellow).bold();
pub(crate) const HINT: Style = color(AnsiColor::Cyan).bold();

const fn color(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// Applies styles to text, unless styles are turned off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painter {
    styled: bool,
}

impl Painter {
    pub(crate) fn new(styled: bool) -> Self {
        Self { styled }
    }

    /// Reports whether styles are turned on.
    pub(crate) fn is_styled(self) -> bool {
        self.styled
    }

    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        if self.styled && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Reports whether a stream is styled. `--color` decides first, then the
/// environment (<https://no-color.org>, <https://bixense.com/clicolors>), then
/// whether the stream is a terminal.
pub(crate) fn wanted(
    asked: Color,
    terminal: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> bool {
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    match asked {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if set("CLICOLOR_FORCE") => variable("CLICOLOR_FORCE").as_deref() != Some("0"),
        Color::Auto => terminal && variable("TERM").as_deref() != Some("dumb"),
    }
}

/// Reports whether a terminal is given links (OSC 8). Colours may be unwanted while
/// links are not, so only `--color never` and terminals that show escape sequences as
/// text turn them off.
pub(crate) fn links(asked: Color, variable: impl Fn(&str) -> Option<String>) -> bool {
    let terminal = variable("TERM");
    asked != Color::Never && !matches!(terminal.as_deref(), Some("dumb" | "linux"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_need_no_colours() {
        let only = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_owned())
        };
        assert!(links(Color::Auto, only("TERM", "xterm-256color")));
        assert!(links(Color::Auto, only("NO_COLOR", "1")));
        assert!(!links(Color::Never, only("TERM", "xterm")));
        assert!(!links(Color::Auto, only("TERM", "dumb")));
        assert!(!links(Color::Auto, only("TERM", "linux")));
    }

    #[test]
    fn who_decides_about_colours() {
        let none = |_: &str| None;
        let only = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| value.to_owned())
        };
        assert!(wanted(Color::Auto, true, none));
        assert!(!wanted(Color::Auto, false, none));
        assert!(!wanted(Color::Auto, true, only("NO_COLOR", "1")));
        assert!(wanted(Color::Auto, true, only("NO_COLOR", "")));
        assert!(wanted(Color::Always, false, only("NO_COLOR", "1")));
        assert!(wanted(Color::Auto, false, only("CLICOLOR_FORCE", "1")));
        assert!(!wanted(Color::Auto, false, only("CLICOLOR_FORCE", "0")));
        assert!(!wanted(Color::Auto, true, only("TERM", "dumb")));
        assert!(!wanted(Color::Never, true, only("CLICOLOR_FORCE", "1")));
    }

    #[test]
    fn a_plain_painter_adds_nothing() {
        assert_eq!(Painter::new(false).paint(BOLD, "x"), "x");
        assert_eq!(Painter::new(true).paint(BOLD, "x"), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(Painter::new(true).paint(BOLD, ""), "");
    }
}
