//! The files of the page, as they are in the folder `page` of this crate. Each is named
//! once; a test compares the list with the folder.

/// A file: its name, and what it says.
type Embedded = (&'static str, &'static [u8]);

/// Embeds files of the folder `page`.
macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../page/", $name)).as_slice())),*]
    };
}

/// The file that is served at `/`.
pub(super) const FIRST: &str = "index.html";

/// All files.
pub(super) const FILES: &[Embedded] = embedded![
    "actions.js",
    "address.js",
    "api.js",
    "article.js",
    "author.js",
    "bar.js",
    "beside.js",
    "bus.js",
    "bytes.js",
    "caveats.js",
    "conversation.js",
    "dialog.js",
    "editor.js",
    "element.js",
    "events.js",
    "filters.js",
    "hits.js",
    "icon.svg",
    "images.js",
    "index.html",
    "keys.js",
    "layout.css",
    "list.js",
    "main.js",
    "marking.js",
    "navigate.js",
    "order.js",
    "outcome.js",
    "periods.js",
    "plain.js",
    "progress.js",
    "reading.css",
    "reading.js",
    "recent.js",
    "record.js",
    "search.css",
    "search.js",
    "signin.js",
    "status.js",
    "strip.js",
    "table.js",
    "terms.js",
    "theme.css",
    "theme.js",
    "timeline.js",
    "toast.js",
    "trusted.js",
    "views.css",
    "welcome.js",
    "when.js",
    "why.js",
    "writing.js",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        // It is for those who change the page.
        let there: BTreeSet<String> = names.filter(|name| name != "README.md").collect();
        let embedded: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).into()).collect();
        assert_eq!(embedded, there);
        assert_eq!(embedded.len(), FILES.len(), "a file is listed twice");
    }
}
