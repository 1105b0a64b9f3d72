-- The other names of a document are searched with its title. Documents that have some
-- are read again: until then the full text and the counts know only their titles.
UPDATE entries SET version = zeroblob(16) WHERE id IN
    (SELECT entry FROM documents WHERE id IN
        (SELECT document FROM fields WHERE name IN ('aliases', 'alias')));
UPDATE documents SET hash = zeroblob(32) WHERE id IN
    (SELECT document FROM fields WHERE name IN ('aliases', 'alias'));
DELETE FROM fields WHERE name IN ('aliases', 'alias');

DROP VIEW documents_text;
CREATE VIEW documents_text AS
SELECT d.id,
       d.title || coalesce((SELECT ' ' || group_concat(f.value, ' ')
                            FROM fields AS f
                            WHERE f.document = d.id AND f.name IN ('aliases', 'alias')), '')
           AS title,
       b.body,
       coalesce((SELECT group_concat(t.name, ' ')
                 FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
                 WHERE dt.document = d.id), '') AS tags
FROM documents AS d JOIN bodies AS b ON b.document = d.id
WHERE d.deleted_at IS NULL;
