//! Draws times against sizes as SVG: both axes logarithmic, each line with its
//! name at its end, readable on light and on dark pages.

use super::findings::{Column, thousands};
use crate::picture::{COLOURS, escaped, picture};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// The edges of the plot area; the names of the lines are to its right.
const LEFT: f64 = 72.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = 366.0;
/// The minimum distance between two names.
const GAP: f64 = 18.0;
/// The prefix of the rows that are drawn.
const WARM: &str = "warm search: ";

/// One line.
#[derive(Clone, Debug)]
struct Series {
    name: String,
    /// The sizes and times, sorted by size.
    points: Vec<(f64, f64)>,
}

/// A logarithmic axis over whole powers of ten.
struct Axis {
    powers: (i32, i32),
    pixels: (f64, f64),
}

/// Draws warm searches of each kind against the number of generated documents.
pub(crate) fn warm_searches(columns: &[Column]) -> String {
    let mut series: Vec<Series> = Vec::new();
    for column in columns.iter().filter(|column| column.generated) {
        for row in &column.rows {
            let Some(name) = row.what.strip_prefix(WARM) else {
                continue;
            };
            let point = (column.documents as f64, row.value);
            match series.iter_mut().find(|known| known.name == name) {
                Some(known) => known.points.push(point),
                None => series.push(Series {
                    name: name.to_owned(),
                    points: vec![point],
                }),
            }
        }
    }
    svg("Warm search: CPU time by number of documents", &series)
}

fn svg(title: &str, series: &[Series]) -> String {
    let series: Vec<Series> = series.iter().filter_map(drawable).collect();
    let numbers = |pick: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        series
            .iter()
            .flat_map(|one| one.points.iter().map(pick))
            .collect()
    };
    let across = Axis::over(&numbers(|point| point.0), (LEFT, RIGHT));
    let up = Axis::over(&numbers(|point| point.1), (BOTTOM, TOP));
    let inside = grid(&across, &up) + &lines(&series, &across, &up);
    picture(title, (WIDTH, HEIGHT), &inside)
}

/// Returns the points that a logarithmic axis can show, in order.
fn drawable(series: &Series) -> Option<Series> {
    let mut points = series.points.clone();
    points.retain(|&(size, time)| size > 0.0 && size.is_finite() && time > 0.0 && time.is_finite());
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    (!points.is_empty()).then(|| Series {
        name: series.name.clone(),
        points,
    })
}

fn grid(across: &Axis, up: &Axis) -> String {
    let mut grid = String::new();
    for power in across.powers.0..=across.powers.1 {
        let (x, below) = (across.at_power(power), BOTTOM + 20.0);
        let size = thousands(10_f64.powi(power) as usize);
        grid += &format!(
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>\n\
             <text x=\"{x:.1}\" y=\"{below}\" text-anchor=\"middle\">{size}</text>\n"
        );
    }
    for power in up.powers.0..=up.powers.1 {
        let (y, before) = (up.at_power(power), LEFT - 8.0);
        let base = y + 4.5;
        let decimals = usize::try_from(-power).unwrap_or(0);
        let time = format!("{:.decimals$} ms", 10_f64.powi(power));
        grid += &format!(
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\n\
             <text x=\"{before}\" y=\"{base:.1}\" text-anchor=\"end\">{time}</text>\n"
        );
    }
    let (middle, below) = (f64::midpoint(LEFT, RIGHT), BOTTOM + 42.0);
    grid + &format!("<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">documents</text>\n")
}

fn lines(series: &[Series], across: &Axis, up: &Axis) -> String {
    let places: Vec<Vec<(f64, f64)>> = series
        .iter()
        .map(|one| {
            let place = |&(size, time): &(f64, f64)| (across.at(size), up.at(time));
            one.points.iter().map(place).collect()
        })
        .collect();
    let ends: Vec<(f64, f64)> = places
        .iter()
        .map(|places| places.last().copied().unwrap_or((LEFT, BOTTOM)))
        .collect();
    let names = apart(&ends.iter().map(|end| end.1).collect::<Vec<_>>());
    let mut lines = String::new();
    for (at, one) in series.iter().enumerate() {
        let colour = at % COLOURS.len();
        let points: Vec<String> = places[at]
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        lines += &format!(
            "<polyline class=\"line line{colour}\" points=\"{}\"/>\n",
            points.join(" ")
        );
        for (x, y) in &places[at] {
            lines +=
                &format!("<circle class=\"dot{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>\n");
        }
        let ((x, y), name) = (ends[at], names[at]);
        let (near, text, base) = (RIGHT + 14.0, RIGHT + 18.0, name + 4.5);
        lines += &format!(
            "<path class=\"leader line{colour}\" d=\"M{x:.1} {y:.1}L{near} {name:.1}\"/>\n\
             <text x=\"{text}\" y=\"{base:.1}\">{}</text>\n",
            escaped(&one.name)
        );
    }
    lines
}

/// Returns the heights of names, as close as possible to those of their lines,
/// without overlaps and none below the area.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]));
    let mut heights = wanted.to_vec();
    let mut least = TOP;
    for &at in &order {
        heights[at] = heights[at].max(least);
        least = heights[at] + GAP;
    }
    let mut most = BOTTOM;
    for &at in order.iter().rev() {
        heights[at] = heights[at].min(most);
        most = heights[at] - GAP;
    }
    heights
}

impl Axis {
    /// Returns the axis between the powers of ten around all numbers, which are
    /// above 0.
    fn over(numbers: &[f64], pixels: (f64, f64)) -> Self {
        let least = numbers.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let most = numbers.iter().copied().reduce(f64::max).unwrap_or(1.0);
        let low = least.log10().floor() as i32;
        let high = most.log10().ceil() as i32;
        Self {
            powers: (low, high.max(low + 1)),
            pixels,
        }
    }

    fn at(&self, number: f64) -> f64 {
        let (low, high) = (f64::from(self.powers.0), f64::from(self.powers.1));
        let part = (number.log10() - low) / (high - low);
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    fn at_power(&self, power: i32) -> f64 {
        self.at(10_f64.powi(power))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series {
            name: name.to_owned(),
            points: points.to_vec(),
        }
    }

    #[test]
    fn pictures_are_well_formed_whatever_is_drawn() {
        let whole = [
            series("rare word", &[(1e3, 0.02), (1e4, 0.1), (1e5, 0.9)]),
            series("<six> & \"more\"", &[(1e3, 0.02), (1e4, 0.1), (1e5, 0.91)]),
        ];
        let odd = [
            series("none", &[]),
            series("zero", &[(1e3, 0.0), (0.0, 1.0)]),
            series("broken", &[(1e3, f64::NAN), (1e4, f64::INFINITY)]),
            series("one", &[(1e3, 1.0)]),
        ];
        for picture in [svg("a < b", &whole), svg("odd", &odd), svg("", &[])] {
            assert_well_formed(&picture);
        }
        let picture = svg("", &whole);
        assert!(picture.contains("&lt;six&gt; &amp; &quot;more&quot;"));
        assert!(picture.contains("prefers-color-scheme: dark"));
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert_eq!(svg("", &odd).matches("<polyline").count(), 1);
    }

    #[test]
    fn only_warm_searches_of_generated_documents_are_drawn() {
        let mut columns = vec![
            Column::new("1,000", 1_000, true),
            Column::new("10,000", 10_000, true),
            Column::new("folder", 14_593, false),
        ];
        for column in &mut columns {
            column.add("warm search: phrase", 1.5, "ms", "");
            column.add("cold search: phrase", 9.5, "ms", "");
        }
        let picture = warm_searches(&columns);
        assert_well_formed(&picture);
        assert_eq!(picture.matches("<polyline").count(), 1);
        assert_eq!(picture.matches("<circle").count(), 2);
    }

    #[test]
    fn names_keep_apart_inside_the_area() {
        let wanted = [BOTTOM, BOTTOM, 100.0, 101.0, TOP, BOTTOM - 1.0];
        let mut heights = apart(&wanted);
        assert!((heights[2] - 100.0).abs() < 1e-9);
        heights.sort_by(f64::total_cmp);
        for pair in heights.windows(2) {
            assert!(pair[1] - pair[0] >= GAP - 1e-9, "{heights:?}");
        }
        assert!(heights[0] >= TOP && heights[5] <= BOTTOM);
    }
}
