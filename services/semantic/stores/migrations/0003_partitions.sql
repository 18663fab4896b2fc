-- What grows with every turn is divided by tenant, so that no table, no index and no vacuum grows with all of them.
--
-- Eight parts: each costs every connection memory and every statement some planning. A tenant is in one part, by the
-- hash of its id; statements name the tenant, so they look at that part alone.
--
-- Not divided: profiles and their statistics, a row for each user; idempotency records, of which old ones are deleted.

-- Whoever runs this owns the tables, and must see every row of them: an error here is better than rows left behind.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'facts', 'fact_statements', 'extracted_interactions', 'observed_interactions', 'observed_conversations'
    ] LOOP
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
        SELECT whole, whole || '_' || n AS name, n
        FROM unnest(ARRAY[
            'facts', 'fact_statements', 'extracted_interactions', 'observed_interactions', 'observed_conversations'
        ]) AS whole
        CROSS JOIN generate_series(0, 7) AS n
    LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)', part.name, part.whole, part.n
        );
    END LOOP;
END $$;

INSERT INTO facts SELECT * FROM facts_whole;
INSERT INTO fact_statements SELECT * FROM fact_statements_whole;
INSERT INTO extracted_interactions SELECT * FROM extracted_interactions_whole;
INSERT INTO observed_interactions SELECT * FROM observed_interactions_whole;
INSERT INTO observed_conversations SELECT * FROM observed_conversations_whole;

DROP TABLE fact_statements_whole;
DROP TABLE facts_whole;
DROP TABLE extracted_interactions_whole;
DROP TABLE observed_interactions_whole;
DROP TABLE observed_conversations_whole;

ALTER TABLE facts ADD PRIMARY KEY (tenant_id, user_id, fact_id);
ALTER TABLE facts ADD UNIQUE (tenant_id, user_id, identity);
CREATE INDEX facts_last_confirmed ON facts (tenant_id, user_id, last_confirmed_time DESC, fact_id);
CREATE INDEX facts_by_topic ON facts (tenant_id, user_id, topic, last_confirmed_time DESC, fact_id)
WHERE topic IS NOT NULL;
CREATE INDEX facts_by_text ON facts (tenant_id, user_id, text_identity);

ALTER TABLE fact_statements ADD PRIMARY KEY (tenant_id, user_id, fact_id, statement_id);
ALTER TABLE fact_statements ADD FOREIGN KEY (tenant_id, user_id, fact_id) REFERENCES facts ON DELETE CASCADE;
CREATE INDEX fact_statements_by_time
ON fact_statements (tenant_id, user_id, fact_id, time DESC, statement_id DESC);

ALTER TABLE extracted_interactions ADD PRIMARY KEY (tenant_id, user_id, interaction_id);
ALTER TABLE observed_interactions ADD PRIMARY KEY (tenant_id, user_id, interaction_id);
ALTER TABLE observed_conversations ADD PRIMARY KEY (tenant_id, user_id, conversation_id);

-- Not where there is nothing yet: of a table that is known to be empty plans are made that do not suit what comes.
DO $$
BEGIN
    IF EXISTS (SELECT FROM facts) THEN
        ANALYZE facts, fact_statements, extracted_interactions, observed_interactions, observed_conversations;
    END IF;
END $$;

-- Not written with "=": parts are chosen by an equality before a statement runs, and so before a statement that says
-- itself whose it is has said so. All parts would be passed over.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'facts', 'fact_statements', 'extracted_interactions', 'observed_interactions', 'observed_conversations'
    ] LOOP
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
