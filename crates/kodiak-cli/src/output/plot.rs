//! Draws the reliability of relevance as an SVG picture.

use std::fmt::Write;

/// The width and height of the picture, and the space for labels on each side.
const SIZE: f64 = 360.0;
const MARGIN: f64 = 44.0;

/// Returns a plot of predictions and observations, from 0 to 1 each. On the diagonal, both
/// are equal.
pub(crate) fn reliability(points: &[(f64, f64)]) -> String {
    let side = SIZE - 2.0 * MARGIN;
    let x = |value: f64| MARGIN + value.clamp(0.0, 1.0) * side;
    let y = |value: f64| SIZE - MARGIN - value.clamp(0.0, 1.0) * side;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" \
         width=\"{SIZE}\" height=\"{SIZE}\" font-family=\"sans-serif\" font-size=\"11\" \
         role=\"img\" aria-label=\"Share of relevant hits by predicted relevance\">\n\
         <rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"#fff\"/>\n"
    );
    for step in 0..=5 {
        let value = f64::from(step) / 5.0;
        let (across, up) = (x(value), y(value));
        let (left, right) = (x(0.0), x(1.0));
        let (low, high) = (y(0.0), y(1.0));
        let _ = write!(
            svg,
            "<path d=\"M{left:.1} {up:.1}H{right:.1}M{across:.1} {low:.1}V{high:.1}\" \
             stroke=\"#ddd\"/>\n\
             <text x=\"{across:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value:.1}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.1}</text>\n",
            low + 16.0,
            left - 6.0,
            up + 4.0,
        );
    }
    let _ = writeln!(
        svg,
        "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#999\" stroke-dasharray=\"4\"/>",
        x(0.0),
        y(0.0),
        x(1.0),
        y(1.0)
    );
    let line: Vec<String> = points
        .iter()
        .map(|&(given, found)| format!("{:.1},{:.1}", x(given), y(found)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\"/>",
        line.join(" ")
    );
    for &(given, found) in points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#1f5fa8\">\
             <title>{given:.3} predicted, {found:.3} relevant</title></circle>",
            x(given),
            y(found)
        );
    }
    let middle = SIZE / 2.0;
    let _ = write!(
        svg,
        "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">predicted relevance</text>\n\
         <text x=\"12\" y=\"{middle}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 12 {middle})\">share that is relevant</text>\n</svg>\n",
        SIZE - 8.0
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_predicted_right_is_on_the_diagonal() {
        let svg = reliability(&[(0.0, 0.0), (0.5, 0.5), (1.0, 2.0)]);
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(
            svg.contains("points=\"44.0,316.0 180.0,180.0 316.0,44.0\""),
            "{svg}"
        );
        assert_eq!(svg.matches("<circle").count(), 3);
        assert!(svg.len() < 10_000);
    }
}
