//! A folder of notes: indexed once, searched in new processes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tantivy::collector::TopDocs;
use tantivy::query::{Query, QueryParser, RegexQuery};
use tantivy::schema::{
    Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::snippet::SnippetGenerator;
use tantivy::{Index, TantivyDocument, doc};

/// Memory for the writer, shared by its threads.
const WRITER_BYTES: usize = 100_000_000;
/// Hits to print.
const LIMIT: usize = 10;

/// What a note is made of.
pub(crate) struct Fields {
    pub(crate) path: Field,
    pub(crate) title: Field,
    pub(crate) body: Field,
}

/// English stems, as Kodiak and FTS5 have them here, and texts kept for
/// snippets.
pub(crate) fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("en_stem")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default()
        .set_indexing_options(indexing)
        .set_stored();
    let mut builder = Schema::builder();
    let fields = Fields {
        path: builder.add_text_field("path", STRING | STORED),
        title: builder.add_text_field("title", text.clone()),
        body: builder.add_text_field("body", text),
    };
    (builder.build(), fields)
}

/// Indexes all files of a folder.
pub(crate) fn index(folder: &Path, index: &Path) -> Result<()> {
    fs::create_dir_all(index)?;
    let (schema, fields) = schema();
    let index = Index::create_in_dir(index, schema)?;
    let mut writer = index.writer(WRITER_BYTES)?;
    for path in files(folder)? {
        let body = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        let body = String::from_utf8_lossy(&body).into_owned();
        writer.add_document(doc!(
            fields.path => path.to_string_lossy().into_owned(),
            fields.title => title(&body, &path),
            fields.body => body,
        ))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// Prints the best notes for a query.
pub(crate) fn search(index: &Path, query: &str) -> Result<()> {
    let (_, fields) = schema();
    let index = Index::open_in_dir(index)?;
    let searcher = index.reader()?.searcher();
    let query = parsed(&index, &fields, query)?;
    let snippets = SnippetGenerator::create(&searcher, &*query, fields.body)?;
    let mut output = std::io::stdout().lock();
    for (score, address) in searcher.search(&query, &TopDocs::with_limit(LIMIT).order_by_score())? {
        let found: TantivyDocument = searcher.doc(address)?;
        let path = found
            .get_first(fields.path)
            .and_then(|value| value.as_str());
        let snippet = snippets.snippet_from_doc(&found);
        let path = path.unwrap_or_default();
        writeln!(output, "{score:.2} {path}\n  {}", snippet.fragment())?;
    }
    Ok(())
}

/// Tantivy's own language, which has no prefix of a single word.
fn parsed(index: &Index, fields: &Fields, query: &str) -> Result<Box<dyn Query>> {
    Ok(match query.strip_suffix('*') {
        Some(start) => Box::new(RegexQuery::from_pattern(
            &format!("{start}.*"),
            fields.body,
        )?),
        None => {
            QueryParser::for_index(index, vec![fields.title, fields.body]).parse_query(query)?
        }
    })
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn title(body: &str, path: &Path) -> String {
    match body.lines().find_map(|line| line.strip_prefix("# ")) {
        Some(title) => title.to_owned(),
        None => path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    }
}
