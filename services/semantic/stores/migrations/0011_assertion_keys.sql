-- Statements by each of their content words. An index of the words as an array cannot be used here: row-level security lets only
-- operators that reveal nothing be tried before it, "=" is one, and "&&" is not. So every statement of a user was read each time.
CREATE TABLE assertion_keys (
    tenant_id text NOT NULL,
    -- A digest of tenant, user and word: see assertions.keys. So the user is not repeated here.
    key bigint NOT NULL,
    interaction_id uuid NOT NULL,
    -- When the statement was made. With it statements are ranked without being read.
    time timestamptz NOT NULL,
    number integer NOT NULL,
    PRIMARY KEY (tenant_id, key, interaction_id, number)
)
PARTITION BY HASH (tenant_id);

DO $$
DECLARE
    part text;
    grantee text;
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF assertion_keys FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
            'assertion_keys_' || n, n
        );
    END LOOP;
    -- The owner sees the statements of all tenants for the length of this migration.
    ALTER TABLE assertions NO FORCE ROW LEVEL SECURITY;
    INSERT INTO assertion_keys (tenant_id, key, interaction_id, time, number)
    SELECT a.tenant_id, k.key, a.interaction_id, a.time, a.number
    FROM assertions AS a, unnest(a.keys) AS k (key)
    ON CONFLICT DO NOTHING;
    ALTER TABLE assertions FORCE ROW LEVEL SECURITY;
    ALTER TABLE assertion_keys ENABLE ROW LEVEL SECURITY;
    ALTER TABLE assertion_keys FORCE ROW LEVEL SECURITY;
    -- Not written with "=": see the first migration.
    CREATE POLICY of_tenant ON assertion_keys
        USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
        WITH CHECK (tenant_id = current_setting('mneme.tenant', true));
    -- Nobody is to name the partitions themselves.
    FOR n IN 0..7 LOOP
        part := 'assertion_keys_' || n;
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
DROP INDEX assertions_by_key;

-- The words follow their statements, whoever adds or removes these.
CREATE FUNCTION add_assertion_keys() RETURNS trigger
LANGUAGE plpgsql SET search_path = semantic, pg_temp
AS $$
BEGIN
    INSERT INTO assertion_keys (tenant_id, key, interaction_id, time, number)
    SELECT a.tenant_id, k.key, a.interaction_id, a.time, a.number
    FROM added AS a, unnest(a.keys) AS k (key)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER assertions_add_keys AFTER INSERT ON assertions REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION add_assertion_keys();

CREATE FUNCTION remove_assertion_keys() RETURNS trigger
LANGUAGE plpgsql SET search_path = semantic, pg_temp
AS $$
BEGIN
    DELETE FROM assertion_keys AS gone USING removed AS a, unnest(a.keys) AS k (key)
    WHERE gone.tenant_id = a.tenant_id AND gone.key = k.key AND gone.interaction_id = a.interaction_id
        AND gone.number = a.number;
    RETURN NULL;
END
$$;

CREATE TRIGGER assertions_remove_keys AFTER DELETE ON assertions REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION remove_assertion_keys();
