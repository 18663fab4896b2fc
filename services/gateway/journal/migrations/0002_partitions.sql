-- What grows with every turn is divided by tenant, so that no table, no index and no vacuum grows with all of them.
--
-- Eight parts: each costs every connection memory and every statement over all tenants one more index to look at, so
-- a fleet of a few hundred tenants is served by few. A tenant is in one part, by the hash of its id; statements name
-- the tenant, so they look at that part alone.
--
-- Not divided: deliveries, a queue that empties and is claimed over all tenants in the order of time, which is one
-- look into one index and would be a merge of eight; speakers, a few names for each user.

-- Whoever runs this owns the tables, and must see every row of them: an error here is better than rows left behind.
ALTER TABLE conversations NO FORCE ROW LEVEL SECURITY;
ALTER TABLE interactions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE feedback NO FORCE ROW LEVEL SECURITY;
ALTER TABLE requests NO FORCE ROW LEVEL SECURITY;
SET LOCAL row_security = off;

ALTER TABLE conversations RENAME TO conversations_whole;
ALTER TABLE interactions RENAME TO interactions_whole;
ALTER TABLE feedback RENAME TO feedback_whole;
ALTER TABLE requests RENAME TO requests_whole;

CREATE TABLE conversations (LIKE conversations_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);
CREATE TABLE interactions (LIKE interactions_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);
CREATE TABLE feedback (LIKE feedback_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);
CREATE TABLE requests (LIKE requests_whole INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
PARTITION BY HASH (tenant_id);

DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT t.name AS whole, t.name || '_' || n AS name, t.options, n
        FROM (VALUES ('conversations', 'WITH (fillfactor = 70)'), ('interactions', ''), ('feedback', ''),
                     ('requests', '')) AS t (name, options)
        CROSS JOIN generate_series(0, 7) AS n
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s) %s',
                       part.name, part.whole, part.n, part.options);
    END LOOP;
END $$;

INSERT INTO conversations SELECT * FROM conversations_whole;
INSERT INTO interactions SELECT * FROM interactions_whole;
INSERT INTO feedback SELECT * FROM feedback_whole;
INSERT INTO requests SELECT * FROM requests_whole;

DROP TABLE conversations_whole;
DROP TABLE interactions_whole;
DROP TABLE feedback_whole;
DROP TABLE requests_whole;

ALTER TABLE conversations ADD PRIMARY KEY (tenant_id, user_id, conversation_id);
CREATE INDEX conversations_by_update
    ON conversations (tenant_id, user_id, update_time DESC, conversation_id);
ALTER TABLE interactions ADD PRIMARY KEY (tenant_id, interaction_id);
ALTER TABLE interactions ADD UNIQUE (tenant_id, user_id, conversation_id, position);
ALTER TABLE feedback ADD PRIMARY KEY (tenant_id, feedback_id);
ALTER TABLE requests ADD PRIMARY KEY (tenant_id, principal_id, method, request_id);
CREATE INDEX requests_by_age ON requests (create_time);

-- Not where there is nothing yet: of a table that is known to be empty plans are made that do not suit what comes.
DO $$
BEGIN
    IF EXISTS (SELECT FROM interactions) THEN
        ANALYZE conversations, interactions, feedback, requests;
    END IF;
END $$;

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'interactions', 'feedback', 'requests'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)
                                            OR current_setting(''mneme.worker'', true) = ''on'')', name);
    END LOOP;
END $$;

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
