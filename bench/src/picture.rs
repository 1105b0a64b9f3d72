//! Draws the frame of all pictures: an SVG that is readable on light and dark pages.

use std::path::Path;

use anyhow::{Context, Result};

/// The colours of lines and dots on light and on dark pages.
pub(crate) const COLOURS: [(&str, &str); 7] = [
    ("#0b62c4", "#6cb2ff"),
    ("#c2410c", "#ff9b5e"),
    ("#15803d", "#5fd38a"),
    ("#a21caf", "#f08cf5"),
    ("#0f766e", "#4fd1c5"),
    ("#8a5a00", "#f0c04a"),
    ("#4b5563", "#b6bfcc"),
];

/// Returns a drawing with a title above `inside`.
pub(crate) fn picture(title: &str, (width, height): (f64, f64), inside: &str) -> String {
    let title = escaped(title);
    let style = style();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n{style}\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"24\" y=\"28\">{title}</text>\n{inside}</svg>\n"
    )
}

fn style() -> String {
    let colours = |pick: fn(&(&'static str, &'static str)) -> &'static str| -> String {
        COLOURS
            .iter()
            .enumerate()
            .map(|(at, colour)| {
                let colour = pick(colour);
                format!(".line{at} {{ stroke: {colour}; }} .dot{at} {{ fill: {colour}; }}\n")
            })
            .collect()
    };
    format!(
        "<style>\n\
         text {{ font: 13px system-ui, sans-serif; fill: #1f2328; }}\n\
         .title {{ font-size: 15px; font-weight: 600; }}\n\
         .page {{ fill: #ffffff; }}\n\
         .grid {{ stroke: #d8dee4; }}\n\
         .line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}\n\
         .leader {{ stroke-width: 1; opacity: 0.6; }}\n{}\
         @media (prefers-color-scheme: dark) {{\n\
         text {{ fill: #e6edf3; }}\n\
         .page {{ fill: #0d1117; }}\n\
         .grid {{ stroke: #30363d; }}\n{}}}\n</style>\n",
        colours(|colour| colour.0),
        colours(|colour| colour.1)
    )
}

/// Writes a drawing into a folder, which is created if it is missing.
pub(crate) fn save(folder: &Path, name: &str, drawing: &str) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("could not make {}", folder.display()))?;
    let path = folder.join(name);
    std::fs::write(&path, drawing).with_context(|| format!("could not write {}", path.display()))
}

/// Escapes the markup in a text.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Asserts that every tag is closed in order and that every number is finite.
#[cfg(test)]
pub(crate) fn assert_well_formed(picture: &str) {
    for wrong in ["NaN", "inf"] {
        assert!(!picture.contains(wrong), "{wrong} in {picture}");
    }
    let mut open: Vec<&str> = Vec::new();
    for piece in picture.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(!text.contains('>'), "{piece}");
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        for entity in text.split('&').skip(1) {
            assert!(
                ["amp;", "lt;", "gt;", "quot;"]
                    .iter()
                    .any(|known| entity.starts_with(known)),
                "{text}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
}
