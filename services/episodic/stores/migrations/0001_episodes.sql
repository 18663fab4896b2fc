-- Episodes, idempotency records, and the functions of background work.

-- Episodes are partitioned by tenant, so that neither their table nor an index nor a vacuum grows with all of them.
--
-- Eight partitions: each costs every connection memory and every statement over all tenants (claim_pending) one more index
-- to look at, so a fleet of a few hundred tenants is served by few. A tenant is in one of them, by the hash of its id.
--
-- Not partitioned: owners, a row for each user; idempotency_records, of which old ones are deleted.
CREATE TABLE episodes (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    episode_id uuid NOT NULL,
    -- 10 bytes of sha256(tenant, user, conversation), then the position as big-endian uint32.
    episode_key bytea NOT NULL CHECK (octet_length(episode_key) = 14),
    conversation_id text NOT NULL,
    position integer NOT NULL CHECK (position >= 0),
    role smallint NOT NULL,
    speaker text NOT NULL,
    query text NOT NULL,
    response text NOT NULL,
    -- {"attachments": [...], "sources": [...], "metadata": {...}}
    details jsonb NOT NULL,
    confidence double precision,
    feedback smallint NOT NULL DEFAULT 0 CHECK (feedback BETWEEN -1 AND 1),
    -- The caller's, else what was scored when it was indexed first; null until then.
    importance double precision,
    -- Of a long text, made when it is indexed; empty for others.
    summary text NOT NULL DEFAULT '',
    access_count bigint NOT NULL DEFAULT 0,
    last_access_time timestamptz,
    time timestamptz NOT NULL,
    create_time timestamptz NOT NULL,
    scope_key text NOT NULL,
    -- 1 pending embedding, 2 active, 3 archived.
    status smallint NOT NULL DEFAULT 1,
    -- The owner's revision that changed it last; 0 while it has never been searchable.
    revision bigint NOT NULL DEFAULT 0,
    traits smallint NOT NULL,
    text_chars integer NOT NULL,
    -- Model whose vectors the index holds for it.
    indexed_model text,
    -- Its pieces in the index while it is active, so that a loss is found and repaired in the background.
    piece_count integer NOT NULL DEFAULT 0,
    index_attempts smallint NOT NULL DEFAULT 0,
    -- It is not indexed before.
    index_after timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, episode_id),
    -- A place in a conversation is held by one episode.
    CONSTRAINT episodes_place UNIQUE (tenant_id, user_id, episode_key)
) PARTITION BY HASH (tenant_id);

DO $$
BEGIN
    FOR n IN 0..7 LOOP
        -- Free space on each page, so that access counts are updated in place.
        EXECUTE format('CREATE TABLE %I PARTITION OF episodes FOR VALUES WITH (MODULUS 8, REMAINDER %s) '
                       'WITH (fillfactor = 90)', 'episodes_' || n, n);
    END LOOP;
END $$;

CREATE INDEX episodes_by_time ON episodes (tenant_id, user_id, time DESC, episode_id DESC);
CREATE INDEX episodes_changed ON episodes (tenant_id, user_id, revision);
CREATE INDEX episodes_pending ON episodes (index_after) WHERE status = 1;
-- Searches ask whether episodes of an owner that were searchable before are indexed again.
CREATE INDEX episodes_indexed_again ON episodes (tenant_id, user_id) WHERE status = 1 AND indexed_model IS NOT NULL;

ALTER TABLE episodes ENABLE ROW LEVEL SECURITY;
-- Not written with "=": partitions are chosen by an equality before a statement runs, and so before a statement that sets
-- the tenant itself has done so. All partitions would be skipped.
CREATE POLICY episodes_of_tenant ON episodes
    USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- Caches hold the light columns of a user's episodes and read only what has changed since. Revisions of one user grow
-- in the order of the commits, because a transaction that raises one locks this row until it ends.
CREATE TABLE owners (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    revision bigint NOT NULL,
    -- Caches of an earlier revision load everything anew: rows were deleted.
    reset_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id)
)
WITH (fillfactor = 50);

ALTER TABLE owners ENABLE ROW LEVEL SECURITY;
CREATE POLICY owners_of_tenant ON owners
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- One revision for all that a transaction changes of an owner: settings of the transaction note the owner whose revision
-- was raised last. So archiving 10,000 episodes is one change of it.
CREATE FUNCTION number_revision() RETURNS trigger
LANGUAGE plpgsql SET search_path = episodic, pg_temp
AS $$
DECLARE
    owner_key text := NEW.tenant_id || chr(31) || NEW.user_id;
BEGIN
    IF current_setting('mneme.revised_owner', true) = owner_key THEN
        NEW.revision := current_setting('mneme.revision', true)::bigint;
        RETURN NEW;
    END IF;
    INSERT INTO owners AS o (tenant_id, user_id, revision) VALUES (NEW.tenant_id, NEW.user_id, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET revision = o.revision + 1
    RETURNING o.revision INTO NEW.revision;
    PERFORM set_config('mneme.revised_owner', owner_key, true), set_config('mneme.revision', NEW.revision::text, true);
    RETURN NEW;
END
$$;

CREATE TRIGGER episodes_number_revision BEFORE UPDATE ON episodes FOR EACH ROW
WHEN (
    (OLD.status, OLD.feedback, OLD.importance, OLD.scope_key, OLD.speaker, OLD.time, OLD.traits, OLD.text_chars)
    IS DISTINCT FROM
    (NEW.status, NEW.feedback, NEW.importance, NEW.scope_key, NEW.speaker, NEW.time, NEW.traits, NEW.text_chars)
)
EXECUTE FUNCTION number_revision();

CREATE FUNCTION number_deletion() RETURNS trigger
LANGUAGE plpgsql SET search_path = episodic, pg_temp
AS $$
BEGIN
    UPDATE owners AS o SET revision = o.revision + 1, reset_revision = o.revision + 1
    FROM (SELECT DISTINCT d.tenant_id, d.user_id FROM deleted AS d WHERE d.revision > 0) AS gone
    WHERE o.tenant_id = gone.tenant_id AND o.user_id = gone.user_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER episodes_number_deletion AFTER DELETE ON episodes
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT
EXECUTE FUNCTION number_deletion();

-- Requests that were carried out, by their ids, with what they returned.
CREATE TABLE idempotency_records (
    tenant_id text NOT NULL,
    principal_id text NOT NULL,
    request_id text NOT NULL,
    digest text NOT NULL,
    user_id text NOT NULL,
    resource_id text NOT NULL,
    response text,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, request_id)
);

CREATE INDEX idempotency_records_oldest ON idempotency_records (tenant_id, create_time);
CREATE INDEX idempotency_records_by_user ON idempotency_records (tenant_id, user_id);

ALTER TABLE idempotency_records ENABLE ROW LEVEL SECURITY;
CREATE POLICY idempotency_records_of_tenant ON idempotency_records
    USING (tenant_id = current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- Background work serves all tenants. It bypasses row-level security with these functions, which run as the owner of the
-- tables and do one thing each; the services' role has no other way across tenants.

CREATE FUNCTION claim_pending(batch_limit integer, at_time timestamptz)
RETURNS TABLE (
    tenant_id text, user_id text, episode_id uuid, episode_key bytea, scope_key text, query text, response text,
    details jsonb, event_time timestamptz, index_attempts smallint
)
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT e.tenant_id, e.user_id, e.episode_id, e.episode_key, e.scope_key, e.query, e.response,
        e.details, e.time, e.index_attempts
    FROM episodes AS e
    WHERE e.status = 1 AND e.index_after <= at_time
    ORDER BY e.index_after
    LIMIT batch_limit
    FOR NO KEY UPDATE SKIP LOCKED
$$;

CREATE FUNCTION mark_active(
    tenant_ids text[], user_ids text[], ids uuid[], piece_counts integer[], model text,
    importances double precision[], summaries text[]
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET status = 2, indexed_model = model, index_attempts = 0, piece_count = done.piece_count,
        importance = coalesce(e.importance, done.importance), summary = done.summary
    FROM unnest(tenant_ids, user_ids, ids, piece_counts, importances, summaries)
        AS done (tenant_id, user_id, episode_id, piece_count, importance, summary)
    WHERE e.tenant_id = done.tenant_id AND e.user_id = done.user_id AND e.episode_id = done.episode_id
        AND e.status = 1
$$;

CREATE FUNCTION defer_pending(of_tenant text, of_user text, id uuid, until_time timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes
    SET index_after = until_time, index_attempts = LEAST(index_attempts + 1, 1000)
    WHERE tenant_id = of_tenant AND user_id = of_user AND episode_id = id AND status = 1
$$;

CREATE FUNCTION add_accesses(
    tenant_ids text[], user_ids text[], ids uuid[], counts bigint[], times timestamptz[]
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET access_count = e.access_count + used.count,
        last_access_time = GREATEST(e.last_access_time, used.last_time)
    FROM unnest(tenant_ids, user_ids, ids, counts, times)
        AS used (tenant_id, user_id, episode_id, count, last_time)
    WHERE e.tenant_id = used.tenant_id AND e.user_id = used.user_id AND e.episode_id = used.episode_id
$$;

-- Owners after the named one, in the order of their keys: active episodes of another model, and pieces of this one.
CREATE FUNCTION index_states(model text, after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, other_episodes bigint, piece_count bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, counted.other_episodes, counted.piece_count
    FROM (
        SELECT w.tenant_id, w.user_id FROM owners AS w
        WHERE (w.tenant_id, w.user_id) > (after_tenant, after_user)
        ORDER BY w.tenant_id, w.user_id
        LIMIT batch_limit
    ) AS o CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE e.indexed_model IS DISTINCT FROM model) AS other_episodes,
            coalesce(sum(e.piece_count) FILTER (WHERE e.indexed_model = model), 0)::bigint AS piece_count
        FROM episodes AS e
        WHERE e.tenant_id = o.tenant_id AND e.user_id = o.user_id AND e.status = 2
    ) AS counted
    ORDER BY o.tenant_id, o.user_id
$$;

-- Owners after the named one, in the order of their keys, with the number of their active episodes.
CREATE FUNCTION active_counts(after_tenant text, after_user text, batch_limit integer)
RETURNS TABLE (tenant_id text, user_id text, active_episodes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT o.tenant_id, o.user_id, counted.active_episodes
    FROM (
        SELECT w.tenant_id, w.user_id FROM owners AS w
        WHERE (w.tenant_id, w.user_id) > (after_tenant, after_user)
        ORDER BY w.tenant_id, w.user_id
        LIMIT batch_limit
    ) AS o CROSS JOIN LATERAL (
        SELECT count(*) AS active_episodes FROM episodes AS e
        WHERE e.tenant_id = o.tenant_id AND e.user_id = o.user_id AND e.status = 2
    ) AS counted
    ORDER BY o.tenant_id, o.user_id
$$;

-- Makes active episodes after the named one pending: those of another model than the kept one, or all where it is null.
CREATE FUNCTION reset_episodes(of_tenant text, of_user text, kept_model text, after_id uuid, batch_limit integer)
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    -- Materialized: a limit that is run once for each row would be none.
    WITH found AS MATERIALIZED (
        SELECT a.episode_id FROM episodes AS a
        WHERE a.tenant_id = of_tenant AND a.user_id = of_user AND a.status = 2
            AND (after_id IS NULL OR a.episode_id > after_id)
            AND (kept_model IS NULL OR a.indexed_model IS DISTINCT FROM kept_model)
        ORDER BY a.episode_id
        LIMIT batch_limit
        FOR NO KEY UPDATE
    )
    UPDATE episodes AS e SET status = 1, index_attempts = 0
    FROM found
    WHERE e.tenant_id = of_tenant AND e.user_id = of_user AND e.episode_id = found.episode_id
    RETURNING e.episode_id
$$;

-- An index is compared with the episodes themselves, piece by piece, since counts of an owner hide what cancels out.

-- Of the episodes at these places: those that an index of the model should hold, with
-- how many pieces where that is known, and those that may be on their way into it. What is archived is left out.
CREATE FUNCTION expected_episodes(model text, tenant_ids text[], user_ids text[], keys bytea[])
RETURNS TABLE (number bigint, episode_id uuid, piece_count integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    SELECT asked.number, found.episode_id, found.piece_count
    FROM unnest(tenant_ids, user_ids, keys) WITH ORDINALITY AS asked (tenant_id, user_id, episode_key, number)
    CROSS JOIN LATERAL (
        SELECT e.episode_id,
            CASE WHEN e.status = 2 AND e.indexed_model = model AND e.piece_count > 0 THEN e.piece_count END
                AS piece_count
        FROM episodes AS e
        WHERE e.tenant_id = asked.tenant_id AND e.user_id = asked.user_id AND e.episode_key = asked.episode_key
            AND e.status IN (1, 2)
        OFFSET 0
    ) AS found
$$;

-- Makes those of the named episodes pending that are active.
CREATE FUNCTION reset_listed(of_tenant text, of_user text, ids uuid[])
RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    -- In the order of their ids, as others do, so that two replicas cannot wait for each other.
    WITH found AS MATERIALIZED (
        SELECT a.episode_id FROM episodes AS a
        WHERE a.tenant_id = of_tenant AND a.user_id = of_user AND a.episode_id = ANY(ids) AND a.status = 2
        ORDER BY a.episode_id
        FOR NO KEY UPDATE
    )
    UPDATE episodes AS e SET status = 1, index_attempts = 0
    FROM found
    WHERE e.tenant_id = of_tenant AND e.user_id = of_user AND e.episode_id = found.episode_id
    RETURNING e.episode_id
$$;

-- Ids of deleted episodes, without content: a delivery that comes late does not bring them back, and a deletion that was
-- interrupted finds again whose points an index may still hold.
CREATE TABLE deleted_episodes (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    episode_id uuid NOT NULL,
    -- The place that it had; null where it was deleted before it was stored.
    episode_key bytea,
    delete_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, episode_id)
);

CREATE INDEX deleted_episodes_by_key ON deleted_episodes (tenant_id, user_id, episode_key);

ALTER TABLE deleted_episodes ENABLE ROW LEVEL SECURITY;
-- As for episodes.
CREATE POLICY deleted_episodes_of_tenant ON deleted_episodes
    USING (tenant_id IS NOT DISTINCT FROM current_setting('mneme.tenant', true))
    WITH CHECK (tenant_id = current_setting('mneme.tenant', true));

-- The one embedded index that is filled from this database; two would undo each other's work.
CREATE TABLE embedded_index (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    -- Model and shard, which one process has locked.
    index_name text NOT NULL,
    -- Host and folder, for the error message.
    place text NOT NULL,
    -- Raised while the index's service lives.
    heartbeat bigint NOT NULL DEFAULT 0
);

-- Policies of a table do not hold for its partitions when they are named themselves. Nobody is to name them: no role has
-- a privilege on them, and without a policy of their own they show no row to a role that is given one later.
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
