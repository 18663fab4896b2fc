-- The interactions that were looked at, of which every turn adds one, are divided by tenant, so that neither their
-- table nor an index nor a vacuum grows with all of them.
--
-- Eight parts: each costs every connection memory and every statement some planning. A tenant is in one part, by the
-- hash of its id; statements name the tenant, so they look at that part alone.
--
-- Not divided: notes, their vectors and their links. The search names each of them once or twice; starting it on eight
-- parts of each was measured to take 0.4 ms more, two thirds of what the search takes. Installations whose notes
-- outgrow one table keep them in Neo4j. Nor receipts, of which old ones are dropped.

-- Whoever runs this owns the table, and must see every row of it: an error here is better than rows left behind.
ALTER TABLE taken_interactions NO FORCE ROW LEVEL SECURITY;
SET LOCAL row_security = off;

ALTER TABLE taken_interactions RENAME TO taken_interactions_whole;
CREATE TABLE taken_interactions (LIKE taken_interactions_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);

DO $$
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF taken_interactions FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                       'taken_interactions_' || n, n);
    END LOOP;
END $$;

INSERT INTO taken_interactions SELECT * FROM taken_interactions_whole;

DROP TABLE taken_interactions_whole;

ALTER TABLE taken_interactions ADD PRIMARY KEY (tenant_id, user_id, interaction_id);
CREATE INDEX taken_in_conversation ON taken_interactions (tenant_id, user_id, conversation_id, position)
    WHERE question <> '';

-- Not where there is nothing yet: of a table that is known to be empty plans are made that do not suit what comes.
DO $$
BEGIN
    IF EXISTS (SELECT FROM taken_interactions) THEN
        ANALYZE taken_interactions;
    END IF;
END $$;

ALTER TABLE taken_interactions ENABLE ROW LEVEL SECURITY;
ALTER TABLE taken_interactions FORCE ROW LEVEL SECURITY;
-- Not written with "=": parts are chosen by an equality before a statement runs, and so before a statement that says
-- itself whose it is has said so. All parts would be passed over.
CREATE POLICY of_tenant ON taken_interactions
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
