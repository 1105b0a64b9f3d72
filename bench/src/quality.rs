//! Draws the search quality of each mode, from the output of
//! `kodiak eval --json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::picture::{COLOURS, escaped, picture, save};

const WIDTH: f64 = 720.0;
/// The width of the names.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 84.0;
/// The distance from one set to the next.
const ROW: f64 = 26.0;
/// The split that is drawn.
const SPLIT: &str = "test";
/// The modes that are drawn, in this order; hybrid with convex fusion.
const MODES: [&str; 3] = ["lexical", "semantic", "hybrid"];
const FUSION: &str = "convex";

/// The options of the drawing.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The file with the figures.
    figures: PathBuf,
    /// Where to draw them.
    #[arg(long, value_name = "DIR")]
    plots: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Figures {
    sets: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    split: String,
    mode: String,
    fusion: Option<String>,
    typo: bool,
    #[serde(rename = "ndcg@10")]
    ndcg_at_10: f64,
}

/// The figure of each mode on a set.
type Reached = BTreeMap<&'static str, f64>;

/// Draws the figures of a file.
pub(crate) fn draw(options: &Options) -> Result<()> {
    let text = std::fs::read_to_string(&options.figures)
        .with_context(|| format!("could not read {}", options.figures.display()))?;
    let figures: Figures = serde_json::from_str(&text)
        .with_context(|| format!("{} is not what eval prints", options.figures.display()))?;
    let sets = by_set(&figures.sets);
    ensure!(!sets.is_empty(), "no split '{SPLIT}' was measured");
    save(&options.plots, "quality.svg", &chart(&sets))
}

/// Returns the sets in the order in which they were measured, and their mean if
/// all sets have all modes.
fn by_set(rows: &[Row]) -> Vec<(String, Reached)> {
    let mut sets: Vec<(String, Reached)> = Vec::new();
    for row in rows.iter().filter(|row| row.split == SPLIT && row.typo) {
        let fused = row.fusion.as_deref();
        let Some(&mode) = MODES.iter().find(|&&mode| mode == row.mode) else {
            continue;
        };
        if fused.is_some_and(|fusion| fusion != FUSION) {
            continue;
        }
        match sets.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, reached)) => {
                reached.insert(mode, row.ndcg_at_10);
            }
            None => sets.push((row.name.clone(), [(mode, row.ndcg_at_10)].into())),
        }
    }
    let complete = |(_, reached): &(String, Reached)| reached.len() == MODES.len();
    if sets.len() > 1 && sets.iter().all(complete) {
        let count = sets.len() as f64;
        let mean = |mode| sets.iter().map(|(_, reached)| reached[mode]).sum::<f64>() / count;
        let means = MODES.into_iter().map(|mode| (mode, mean(mode))).collect();
        sets.push((format!("mean of {}", sets.len()), means));
    }
    sets
}

fn chart(sets: &[(String, Reached)]) -> String {
    let least = sets
        .iter()
        .flat_map(|(_, reached)| reached.values().copied())
        .fold(1.0, f64::min);
    let low = (least * 10.0).floor() / 10.0;
    let x = |figure: f64| LEFT + (figure - low) / (1.0 - low).max(0.1) * (RIGHT - LEFT);
    let bottom = TOP + ROW * sets.len() as f64;
    let mut inside = legend();
    let steps = ((1.0 - low) * 10.0).round() as usize;
    for step in 0..=steps {
        let figure = low + step as f64 / 10.0;
        let (at, below) = (x(figure), bottom + 18.0);
        inside += &format!(
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>\n\
             <text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{figure:.1}</text>\n"
        );
    }
    for (number, (name, reached)) in sets.iter().enumerate() {
        let y = TOP + ROW * (number as f64 + 0.5);
        let (before, base) = (LEFT - 12.0, y + 4.5);
        inside += &format!(
            "<text x=\"{before}\" y=\"{base}\" text-anchor=\"end\">{}</text>\n",
            escaped(name)
        );
        let figures = || reached.values().copied();
        let (from, to) = (
            x(figures().fold(f64::MAX, f64::min)),
            x(figures().fold(f64::MIN, f64::max)),
        );
        inside += &format!("<path class=\"grid\" d=\"M{from:.1} {y}H{to:.1}\"/>\n");
        for (colour, mode) in MODES.iter().enumerate() {
            if let Some(&figure) = reached.get(mode) {
                inside += &dot(colour, x(figure), y);
            }
        }
    }
    let title = "Quality by way of searching: nDCG@10";
    picture(title, (WIDTH, bottom + 34.0), &inside)
}

fn legend() -> String {
    let mut legend = String::new();
    for (colour, mode) in MODES.iter().enumerate() {
        let at = LEFT + 110.0 * colour as f64;
        legend += &dot(colour, at, 56.0);
        legend += &format!("<text x=\"{}\" y=\"60.5\">{mode}</text>\n", at + 12.0);
    }
    legend
}

fn dot(colour: usize, x: f64, y: f64) -> String {
    let colour = colour % COLOURS.len();
    format!("<circle class=\"dot{colour}\" cx=\"{x:.1}\" cy=\"{y}\" r=\"5\"/>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::assert_well_formed;

    fn figures() -> Figures {
        let row = |name: &str, split: &str, mode: &str, fusion: Option<&str>, figure: f64| {
            serde_json::json!({
                "name": name, "split": split, "mode": mode, "fusion": fusion, "typo": true,
                "ndcg@10": figure,
            })
        };
        let mut rows = Vec::new();
        for (name, plus) in [("one", 0.0), ("two", 0.2)] {
            rows.extend([
                row(name, "test", "lexical", None, 0.5 + plus),
                row(name, "test", "semantic", None, 0.4 + plus),
                row(name, "test", "hybrid", Some("convex"), 0.6 + plus),
                row(name, "test", "hybrid", Some("rrf"), 0.1),
                row(name, "typo", "lexical", None, 0.1),
                row(name, "test", "like", None, 0.1),
            ]);
        }
        serde_json::from_value(serde_json::json!({ "sets": rows })).unwrap()
    }

    #[test]
    fn sets_come_in_order_with_their_mean_last() {
        let sets = by_set(&figures().sets);
        let names: Vec<&str> = sets.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["one", "two", "mean of 2"]);
        assert!((sets[2].1["hybrid"] - 0.7).abs() < 1e-9);
        assert!((sets[2].1["lexical"] - 0.6).abs() < 1e-9);
    }

    #[test]
    fn every_figure_has_its_dot() {
        let drawing = chart(&by_set(&figures().sets));
        assert_well_formed(&drawing);
        assert_eq!(
            drawing.matches("<circle").count(),
            3 * MODES.len() + MODES.len()
        );
        assert!(drawing.contains(">mean of 2<"));
    }
}
