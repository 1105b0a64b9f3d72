//! Measures redaction: made-up secrets that are left, harmless texts that are touched,
//! what of a folder's files would be redacted, and how fast.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use kodiak_redact::{redact, secrets};
use tiny_secrets::{Random, harmless, kinds, looked_at, planted};

use crate::clock::cpu_ms;
use crate::report::Report;

/// The number of texts of each kind of secret, and of harmless texts.
const PLANTED: usize = 500;
const HARMLESS: usize = 20_000;

/// Plants secrets, and looks for some in the notes of a folder.
pub(crate) fn measure(folder: Option<&Path>, report: &mut Report) -> Result<()> {
    let looked_at = looked_at();
    let (mut seen, mut aside) = (Vec::new(), Vec::new());
    for kind in kinds() {
        let left = left(kind);
        if left > 0 {
            let detail = format!("of {PLANTED}");
            report.add(format!("left: {kind}"), left as f64, "", detail);
        }
        let is_seen = looked_at.contains(&kind);
        let half = if is_seen { &mut seen } else { &mut aside };
        half.push(left);
    }
    for (name, left) in [("looked at", &seen), ("set aside", &aside)] {
        let planted = left.len() * PLANTED;
        let gone = planted - left.iter().sum::<usize>();
        let share = 100.0 * gone as f64 / planted as f64;
        let detail = format!("{gone} of {planted} of {} kinds", left.len());
        report.add(format!("secrets gone, kinds {name}"), share, "%", detail);
    }
    let mut random = Random::new(5);
    let texts: Vec<String> = (0..HARMLESS).map(|_| harmless(&mut random)).collect();
    let touched = texts.iter().filter(|text| redact(text) != **text).count();
    let rate = 1000.0 * touched as f64 / HARMLESS as f64;
    let detail = format!("{touched} of {HARMLESS}");
    report.add("harmless texts touched in a thousand", rate, "", detail);
    match folder {
        Some(folder) => measure_folder(folder, report),
        None => Ok(()),
    }
}

/// Returns how many texts of a kind still have their secret.
fn left(kind: &str) -> usize {
    let mut random = Random::new(42);
    let texts = (0..PLANTED).map(|_| planted(kind, &mut random));
    texts
        .filter(|planted| {
            let redacted = redact(&planted.text);
            let mut secrets = planted.secrets.iter();
            secrets.any(|secret| redacted.contains(secret.as_str()))
        })
        .count()
}

fn measure_folder(folder: &Path, report: &mut Report) -> Result<()> {
    let texts = crate::all::files(folder)?;
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let lines: usize = texts.iter().map(|(_, text)| text.lines().count()).sum();
    let (found, milliseconds) = cpu_ms(|| {
        let all = texts.iter().map(|(_, text)| secrets(text));
        all.collect::<Vec<_>>()
    });
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut touched = 0;
    for ((_, text), secrets) in texts.iter().zip(&found) {
        for secret in secrets {
            touched += text[secret.range.clone()].lines().count();
            *kinds.entry(secret.kind).or_default() += 1;
        }
    }
    let rate = 1000.0 * touched as f64 / lines.max(1) as f64;
    let detail = format!("{touched} of {lines} lines in {} files", texts.len());
    report.add("redacted lines in a thousand", rate, "", detail);
    let speed = bytes as f64 / 1e3 / milliseconds;
    let detail = format!("{:.0} MB", bytes as f64 / 1e6);
    report.add("looking for secrets", speed, "MB/s", detail);
    let speed = lines as f64 / 1e3 / milliseconds;
    report.add(
        "lines looked through",
        speed,
        "M/s",
        format!("{lines} lines"),
    );
    for (kind, count) in kinds {
        report.add(kind, count as f64, "", "");
    }
    Ok(())
}
