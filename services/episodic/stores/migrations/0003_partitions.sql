-- Episodes are divided by tenant, so that neither their table nor an index nor a vacuum grows with all of them.
--
-- Eight parts: each costs every connection memory and every statement over all tenants (claim_pending) one more index
-- to look at, so a fleet of a few hundred tenants is served by few. A tenant is in one part, by the hash of its id.
--
-- Not divided: owners, a row for each user; idempotency_records, of which old ones are dropped.

-- Whoever runs this owns the table, and must see every row of it: an error here is better than rows left behind.
SET LOCAL row_security = off;

ALTER TABLE episodes RENAME TO episodes_whole;

CREATE TABLE episodes (LIKE episodes_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY HASH (tenant_id);

DO $$
DECLARE
    part text;
BEGIN
    FOR n IN 0..7 LOOP
        part := 'episodes_' || n;
        EXECUTE format('CREATE TABLE %I PARTITION OF episodes FOR VALUES WITH (MODULUS 8, REMAINDER %s) '
                       'WITH (fillfactor = 90)', part, n);
    END LOOP;
END $$;

INSERT INTO episodes SELECT * FROM episodes_whole;

DROP TABLE episodes_whole;

ALTER TABLE episodes ADD PRIMARY KEY (tenant_id, user_id, episode_id);
-- A place in a conversation is held by one episode.
ALTER TABLE episodes ADD CONSTRAINT episodes_place UNIQUE (tenant_id, user_id, episode_key);
CREATE INDEX episodes_by_time ON episodes (tenant_id, user_id, time DESC, episode_id DESC);
CREATE INDEX episodes_changed ON episodes (tenant_id, user_id, revision);
CREATE INDEX episodes_pending ON episodes (index_after) WHERE status = 1;
CREATE INDEX episodes_indexed_again ON episodes (tenant_id, user_id) WHERE status = 1 AND indexed_model IS NOT NULL;

CREATE TRIGGER episodes_number_revision BEFORE UPDATE ON episodes FOR EACH ROW
WHEN (
    (OLD.status, OLD.feedback, OLD.importance, OLD.scope_key, OLD.speaker, OLD.time, OLD.traits, OLD.text_chars)
    IS DISTINCT FROM
    (NEW.status, NEW.feedback, NEW.importance, NEW.scope_key, NEW.speaker, NEW.time, NEW.traits, NEW.text_chars)
)
EXECUTE FUNCTION number_revision();
CREATE TRIGGER episodes_number_deletion AFTER DELETE ON episodes
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT
EXECUTE FUNCTION number_deletion();

ALTER TABLE episodes ENABLE ROW LEVEL SECURITY;
-- Not written with "=": parts are chosen by an equality before a statement runs, and so before a statement that says
-- itself whose it is has said so. All parts would be passed over.
CREATE POLICY episodes_of_tenant ON episodes
    USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- Policies of a table do not hold for its parts when they are named themselves. Nobody is to name them: no role has
-- a privilege on them, and without a policy of their own they show no row to whoever is given one later.
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

-- Not where there is nothing yet: of a table that is known to be empty plans are made that do not suit what comes.
DO $$
BEGIN
    IF EXISTS (SELECT FROM episodes) THEN
        ANALYZE episodes;
    END IF;
END $$;
