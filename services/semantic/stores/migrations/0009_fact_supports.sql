-- Interactions that support a fact by a statement of their own, which says the same in other words. The fact's state follows
-- from these rows beside its statements.
CREATE TABLE fact_supports (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    fact_id uuid NOT NULL,
    interaction_id uuid NOT NULL,
    -- When it was said.
    time timestamptz NOT NULL,
    -- When it was stored.
    recorded_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, fact_id, interaction_id),
    FOREIGN KEY (tenant_id, user_id, fact_id) REFERENCES facts ON DELETE CASCADE
)
PARTITION BY HASH (tenant_id);
CREATE INDEX fact_supports_by_interaction ON fact_supports (tenant_id, user_id, interaction_id);

DO $$
DECLARE
    part text;
    grantee text;
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF fact_supports FOR VALUES WITH (MODULUS 8, REMAINDER %s)', 'fact_supports_' || n, n
        );
    END LOOP;
    ALTER TABLE fact_supports ENABLE ROW LEVEL SECURITY;
    ALTER TABLE fact_supports FORCE ROW LEVEL SECURITY;
    -- Not written with "=": see the first migration.
    CREATE POLICY of_tenant ON fact_supports
        USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
        WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
    -- Nobody is to name the partitions themselves.
    FOR n IN 0..7 LOOP
        part := 'fact_supports_' || n;
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
