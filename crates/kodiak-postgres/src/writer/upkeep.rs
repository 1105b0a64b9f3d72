//! What is derived from the documents.

use super::PostgresWriter;
use super::buffer::Buffer;
use crate::merging::Which;
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::{Row, Upkeep};
use kodiak_text::document::Markup;
use kodiak_text::links::{self, OutgoingLink};
use kodiak_text::markup::Lines;

/// The number of documents that are indexed again at a time.
const PAGE: usize = 256;

impl Upkeep for PostgresWriter {
    fn optimize(&mut self) -> Result<()> {
        self.within(|writer| {
            writer.write_out()?;
            writer.analyze_new()
        })?;
        self.reader.shared.merge_all();
        Ok(())
    }

    fn refresh_vocabulary(&mut self) -> Result<()> {
        Ok(())
    }

    fn rebuild_vocabulary(&mut self) -> Result<()> {
        self.change(|writer| {
            writer.write_out()?;
            writer
                .reader
                .ask(&[
                    Query::new("DELETE FROM terms WHERE documents <= 0"),
                    Query::new("DELETE FROM words WHERE documents <= 0"),
                ])
                .map(drop)
        })?;
        self.reader.shared.known.clear();
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        self.rebuild_vocabulary()?;
        self.within(|writer| writer.merge(Which::WithDeleted))?;
        self.reader.remake_derived()
    }

    fn repair(&mut self) -> Result<()> {
        self.change(Self::refill)?;
        self.reader.shared.cache.clear();
        self.reader.shared.known.clear();
        self.reader.remake_derived()
    }
}

impl PostgresWriter {
    /// Has the server count what is in tables that it has never looked at. It does so by
    /// itself after a while, and until then reads whole tables for a few rows.
    fn analyze_new(&self) -> Result<()> {
        let unknown = Query::new(
            "SELECT c.relname::text FROM pg_class AS c
             JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE n.nspname = $1 AND c.relkind = 'r' AND c.reltuples < 0
               AND pg_relation_size(c.oid) > 0 ORDER BY c.relname",
        );
        let unknown = unknown.with(self.reader.shared.schema());
        let mut queries = Vec::new();
        for row in self.reader.rows_of(unknown)? {
            let table: &str = get(&row, 0)?;
            queries.push(Query::new(format!("ANALYZE {table}")));
        }
        self.reader.ask(&queries).map(drop)
    }

    /// Makes anew what is derived from the documents: postings, counts and links.
    pub(super) fn refill(&mut self) -> Result<()> {
        self.write_out()?;
        self.note_change()?;
        let orphans = [
            "UPDATE entries SET version = '\\x00000000000000000000000000000000' WHERE id IN
                (SELECT entry FROM documents AS d WHERE NOT EXISTS
                    (SELECT 1 FROM bodies AS b WHERE b.document = d.id))",
            "DELETE FROM documents AS d WHERE NOT EXISTS
                (SELECT 1 FROM bodies AS b WHERE b.document = d.id)",
        ];
        let mut queries: Vec<Query> = orphans.into_iter().map(Query::new).collect();
        for (table, column, of) in [
            ("bodies", "document", "documents"),
            ("document_tags", "document", "documents"),
            ("fields", "document", "documents"),
            ("chunks", "document", "documents"),
            ("embeddings", "chunk", "chunks"),
            ("embeddings", "model", "models"),
            ("embedding_failures", "chunk", "chunks"),
            ("embedding_failures", "model", "models"),
        ] {
            queries.push(Query::new(format!(
                "DELETE FROM {table} AS t WHERE NOT EXISTS
                 (SELECT 1 FROM {of} AS o WHERE o.id = t.{column})"
            )));
        }
        queries.push(Query::new(
            "DELETE FROM embeddings AS e USING models AS m
             WHERE m.id = e.model AND octet_length(e.vector) <> 4 * m.dimensions",
        ));
        for table in [
            "segments",
            "postings",
            "terms",
            "words",
            "links",
            "link_terms",
            "names",
        ] {
            queries.push(Query::new(format!("DELETE FROM {table}")));
        }
        let emptied = Query::new("UPDATE state SET documents = 0, length = 0, analysis = $1");
        queries.push(emptied.with(crate::schema::ANALYSIS));
        self.reader.ask(&queries)?;
        self.reader.forget_live();
        let mut last: Row = 0;
        loop {
            let page = Query::new(
                "SELECT b.document, b.titles, b.body, b.tags, d.source, d.project, d.key, d.title,
                        d.markup
                 FROM documents AS d JOIN bodies AS b ON b.document = d.id
                 WHERE d.id > $1 ORDER BY d.id LIMIT $2",
            );
            let rows = self.reader.rows_of(page.with(last).with(PAGE))?;
            let mut buffer = Buffer::default();
            let mut of_links: Vec<(Row, [String; 3], Vec<OutgoingLink>)> = Vec::new();
            for row in &rows {
                last = get(row, 0)?;
                let terms = self.terms_of(row)?;
                let (source, project): (String, Option<String>) = (get(row, 4)?, get(row, 5)?);
                buffer.counts.add(&terms, 1);
                let builder = buffer.segments.entry((source.clone(), project));
                builder.or_default().add(last, &terms);
                let (markup, body) = (Markup::named(get(row, 8)?), get(row, 2)?);
                let found = links::outgoing(markup, &Lines::of(markup, body), body);
                of_links.push((last, [source, get(row, 6)?, get(row, 7)?], found));
            }
            self.write_derived(buffer, &of_links)?;
            if rows.len() < PAGE {
                break;
            }
        }
        self.merge(Which::Due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, PostgresIndex};
    use kodiak_store::Store;
    use kodiak_text::AnalyzedDocument;
    use kodiak_text::document::{Document, Version};

    #[test]
    #[ignore = "needs servers: tests/postgres/with starts them"]
    fn after_the_first_filling_the_server_knows_what_is_in_its_tables() {
        let addresses = std::env::var("KODIAK_TEST_POSTGRES").unwrap_or_default();
        assert!(!addresses.is_empty(), "tests/postgres/with sets it");
        for (number, address) in addresses.split_whitespace().enumerate() {
            let schema = format!("kodiak_upkeep_{}_{number}", std::process::id());
            let address = Address::parse(address).unwrap().with_schema(&schema);
            let index = PostgresIndex::new(address);
            let mut writer = index.writer("test").unwrap();
            writer.begin().unwrap();
            let document = Document {
                source: "notes".to_owned(),
                key: "bear.md".to_owned(),
                body: "bear and honey".to_owned(),
                ..Document::default()
            };
            let entry = writer.put_entry("notes", "bear.md", Version::UNKNOWN, 1, None);
            let document = AnalyzedDocument::new(document);
            writer.put_from(entry.unwrap(), &document).unwrap();
            writer.commit().unwrap();
            let revision = writer.reader().revision().unwrap();
            writer.optimize().unwrap();
            assert_eq!(writer.reader().revision().unwrap(), revision);
            drop(writer);
            let reader = index.open().unwrap();
            for table in ["documents", "words", "postings"] {
                let known = Query::new(
                    "SELECT reltuples::bigint FROM pg_class WHERE oid = $1::text::regclass",
                );
                let rows = reader.rows_of(known.with(format!("{schema}.{table}")));
                assert!(get::<i64>(&rows.unwrap()[0], 0).unwrap() > 0, "{table}");
            }
            drop(reader);
            index.delete().unwrap();
        }
    }
}
