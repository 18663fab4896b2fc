-- Values that applications store under namespaces and keys.
CREATE TABLE documents (
    tenant_id       text NOT NULL,
    user_id         text NOT NULL,
    namespace       text COLLATE "C" NOT NULL,  -- labels, each followed by chr(31), which is less than any character in one
    key             text COLLATE "C" NOT NULL,
    value           text NOT NULL,              -- JSON as it was written: jsonb would not return the same text
    search_texts    jsonb NOT NULL,             -- a list of texts
    embedding       bytea,                      -- their vectors, 4-byte floats; NULL until they are embedded
    embedding_model text,
    etag            text NOT NULL,
    create_time     timestamptz NOT NULL,
    update_time     timestamptz NOT NULL,
    ttl_seconds     double precision,           -- NULL: it does not expire
    expire_time     timestamptz,
    PRIMARY KEY (tenant_id, user_id, namespace, key)
) PARTITION BY HASH (tenant_id);

DO $$
DECLARE
    part text;
    grantee text;
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF documents FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                       'documents_' || n, n);
    END LOOP;
    ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
    ALTER TABLE documents FORCE ROW LEVEL SECURITY;
    CREATE POLICY tenant ON documents USING (tenant_id = current_setting('mneme.tenant', true)
                                             OR current_setting('mneme.worker', true) = 'on');
    -- Nobody is to name a part: see 0001_journal.sql.
    FOR n IN 0..7 LOOP
        part := 'documents_' || n;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', part);
        FOR grantee IN
            SELECT DISTINCT g.grantee::regrole::text FROM pg_class AS c, aclexplode(c.relacl) AS g
            WHERE c.oid = part::regclass AND g.grantee NOT IN (0, c.relowner)
        LOOP
            EXECUTE format('REVOKE ALL ON %I FROM %s', part, grantee);
        END LOOP;
    END LOOP;
END $$;
CREATE INDEX documents_by_expiry ON documents (expire_time) WHERE expire_time IS NOT NULL;
