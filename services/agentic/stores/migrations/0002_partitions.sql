-- What grows with every turn is divided by tenant, so that no table, no index and no vacuum grows with all of them.
--
-- Eight parts: each costs every connection memory and every statement some planning. A tenant is in one part, by the
-- hash of its id; statements name the tenant, so they look at that part alone.
--
-- Not divided: receipts, of which old ones are dropped.

-- Whoever runs this owns the tables, and must see every row of them: an error here is better than rows left behind.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notes', 'note_vectors', 'link_ends', 'taken_interactions'] LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', name, name || '_whole');
        EXECUTE format(
            'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) '
            'PARTITION BY HASH (tenant_id)', name, name || '_whole'
        );
    END LOOP;
END $$;
SET LOCAL row_security = off;

DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT t.name AS whole, t.name || '_' || n AS name, t.options, n
        FROM (VALUES ('notes', 'WITH (fillfactor = 85)'), ('note_vectors', ''), ('link_ends', ''),
                     ('taken_interactions', '')) AS t (name, options)
        CROSS JOIN generate_series(0, 7) AS n
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s) %s',
                       part.name, part.whole, part.n, part.options);
    END LOOP;
END $$;

INSERT INTO notes SELECT * FROM notes_whole;
INSERT INTO note_vectors SELECT * FROM note_vectors_whole;
INSERT INTO link_ends SELECT * FROM link_ends_whole;
INSERT INTO taken_interactions SELECT * FROM taken_interactions_whole;

DROP TABLE note_vectors_whole;
DROP TABLE link_ends_whole;
DROP TABLE notes_whole;
DROP TABLE taken_interactions_whole;

ALTER TABLE notes ADD PRIMARY KEY (tenant_id, user_id, note_id);
CREATE INDEX notes_newest ON notes (tenant_id, user_id, create_time DESC, note_id);
CREATE INDEX notes_in_conversation ON notes (tenant_id, user_id, conversation_id, position)
    WHERE conversation_id <> '';

ALTER TABLE note_vectors ADD PRIMARY KEY (tenant_id, user_id, model, note_id);
ALTER TABLE note_vectors ADD FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE;

ALTER TABLE link_ends ADD PRIMARY KEY (tenant_id, user_id, note_id, other_note_id, type, is_first);
ALTER TABLE link_ends ADD FOREIGN KEY (tenant_id, user_id, note_id) REFERENCES notes ON DELETE CASCADE;

ALTER TABLE taken_interactions ADD PRIMARY KEY (tenant_id, user_id, interaction_id);
CREATE INDEX taken_in_conversation ON taken_interactions (tenant_id, user_id, conversation_id, position)
    WHERE question <> '';

-- Not written with "=": parts are chosen by an equality before a statement runs, and so before a statement that says
-- itself whose it is has said so. All parts would be passed over.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['notes', 'note_vectors', 'link_ends', 'taken_interactions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I '
            'USING (tenant_id IS NOT DISTINCT FROM current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            name
        );
    END LOOP;
END $$;

-- Policies of a table do not hold for its parts when they are named themselves. Nobody is to name them: no role has
-- a privilege on them, and without a policy of their own they show no row to whoever is given one later. Done last,
-- since references are checked part by part.
DO $$
DECLARE
    part regclass;
    grantee text;
BEGIN
    FOR part IN SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relispartition
        AND relkind = 'r' ORDER BY relname
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', part);
        FOR grantee IN
            SELECT DISTINCT g.grantee::regrole::text FROM pg_class AS c, aclexplode(c.relacl) AS g
            WHERE c.oid = part AND g.grantee NOT IN (0, c.relowner)
        LOOP
            EXECUTE format('REVOKE ALL ON %s FROM %s', part, grantee);
        END LOOP;
    END LOOP;
END $$;

ANALYZE notes, note_vectors, link_ends, taken_interactions;
