//! Counts what of a folder's files would be redacted, and how fast.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use kodiak::redact::secrets;

use crate::clock::cpu_ms;
use crate::report::Report;

/// Looks for secrets in the notes of a folder.
pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
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
    for (kind, count) in kinds {
        report.add(kind, count as f64, "", "");
    }
    Ok(())
}
