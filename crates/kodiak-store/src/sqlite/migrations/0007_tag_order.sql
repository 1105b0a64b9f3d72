-- In the full text, tags are in the order of the document. The numbers of tags are given
-- over all documents, and a phrase across two tags must not depend on other documents.
-- Subqueries are sorted, because earlier versions of SQLite, such as those of other
-- programs that look at the index, cannot read a schema that sorts within an aggregate.
DROP VIEW documents_text;
CREATE VIEW documents_text AS
SELECT d.id,
       d.title || coalesce((SELECT ' ' || group_concat(value, ' ') FROM
                            (SELECT f.value FROM fields AS f
                             WHERE f.document = d.id AND f.name IN ('aliases', 'alias')
                             ORDER BY f.rowid)), '') AS title,
       b.body,
       coalesce((SELECT group_concat(name, ' ') FROM
                 (SELECT t.name FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
                  WHERE dt.document = d.id ORDER BY dt.ordinal, t.name)), '') AS tags
FROM documents AS d JOIN bodies AS b ON b.document = d.id
WHERE d.deleted_at IS NULL;

DELETE FROM documents_fts WHERE rowid IN
    (SELECT document FROM document_tags GROUP BY document HAVING count(*) > 1);
INSERT INTO documents_fts (rowid, title, body, tags)
SELECT id, title, body, tags FROM documents_text WHERE id IN
    (SELECT document FROM document_tags GROUP BY document HAVING count(*) > 1);
