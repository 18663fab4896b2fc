-- The interactions that were processed, of which every turn adds one, are partitioned by tenant, so that neither their
-- table nor an index nor a vacuum grows with all of them.
--
-- Eight partitions: each costs every connection memory and every statement some planning. A tenant is in one of them,
-- by the hash of its id; statements name the tenant, so they read that partition alone.
--
-- Not partitioned: notes, their vectors and their links. The search names each of them once or twice, and planning it for
-- eight partitions of each costs a large part of what the search itself costs. Installations whose notes outgrow one
-- table store them in Neo4j. Nor idempotency records, of which old ones are deleted.

-- Whoever runs this owns the table, and must see every row of it: an error here is better than rows left behind.
ALTER TABLE processed_interactions NO FORCE ROW LEVEL SECURITY;
SET LOCAL row_security = off;

ALTER TABLE processed_interactions RENAME TO processed_interactions_whole;
CREATE TABLE processed_interactions (LIKE processed_interactions_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);

DO $$
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF processed_interactions FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                       'processed_interactions_' || n, n);
    END LOOP;
END $$;

INSERT INTO processed_interactions SELECT * FROM processed_interactions_whole;

DROP TABLE processed_interactions_whole;

ALTER TABLE processed_interactions ADD PRIMARY KEY (tenant_id, user_id, interaction_id);
CREATE INDEX processed_in_conversation ON processed_interactions (tenant_id, user_id, conversation_id, position)
    WHERE question <> '';

-- Not where there is nothing yet: of a table that is known to be empty plans are made that do not suit what comes.
DO $$
BEGIN
    IF EXISTS (SELECT FROM processed_interactions) THEN
        ANALYZE processed_interactions;
    END IF;
END $$;

ALTER TABLE processed_interactions ENABLE ROW LEVEL SECURITY;
ALTER TABLE processed_interactions FORCE ROW LEVEL SECURITY;
-- Not written with "=": parts are chosen by an equality before a statement runs, and so before a statement that says
-- itself whose it is has said so. All parts would be passed over.
CREATE POLICY of_tenant ON processed_interactions
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
