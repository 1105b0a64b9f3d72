-- In the full text, tags are in the order of the document. The numbers of tags are given
-- over all documents, and a phrase across two tags must not depend on other documents.
DROP VIEW documents_text;
CREATE VIEW documents_text AS
SELECT d.id,
       d.title || coalesce((SELECT ' ' || group_concat(f.value, ' ' ORDER BY f.rowid)
                            FROM fields AS f
                            WHERE f.document = d.id AND f.name IN ('aliases', 'alias')), '')
           AS title,
       b.body,
       coalesce((SELECT group_concat(t.name, ' ' ORDER BY dt.ordinal, t.name)
                 FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
                 WHERE dt.document = d.id), '') AS tags
FROM documents AS d JOIN bodies AS b ON b.document = d.id
WHERE d.deleted_at IS NULL;

DELETE FROM documents_fts WHERE rowid IN
    (SELECT document FROM document_tags GROUP BY document HAVING count(*) > 1);
INSERT INTO documents_fts (rowid, title, body, tags)
SELECT id, title, body, tags FROM documents_text WHERE id IN
    (SELECT document FROM document_tags GROUP BY document HAVING count(*) > 1);
