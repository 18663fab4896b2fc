-- Episodes, idempotency records, and the functions of background work.

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
    index_attempts smallint NOT NULL DEFAULT 0,
    -- It is not indexed before.
    index_after timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, episode_id),
    -- A place in a conversation is held by one episode.
    CONSTRAINT episodes_place UNIQUE (tenant_id, user_id, episode_key)
)
-- Free space on each page, so that access counts are updated in place.
WITH (fillfactor = 90);

CREATE INDEX episodes_by_time ON episodes (tenant_id, user_id, time DESC, episode_id DESC);
CREATE INDEX episodes_changed ON episodes (tenant_id, user_id, revision);
CREATE INDEX episodes_pending ON episodes (index_after) WHERE status = 1;

ALTER TABLE episodes ENABLE ROW LEVEL SECURITY;
CREATE POLICY episodes_of_tenant ON episodes
    USING (tenant_id = current_setting('mneme.tenant', true))
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

CREATE FUNCTION mark_active(tenant_ids text[], user_ids text[], ids uuid[], model text)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET status = 2, indexed_model = model, index_attempts = 0
    FROM unnest(tenant_ids, user_ids, ids) AS done (tenant_id, user_id, episode_id)
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

CREATE FUNCTION reset_other_models(model text)
RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    WITH changed AS (
        UPDATE episodes SET status = 1, index_attempts = 0
        WHERE status = 2 AND indexed_model IS DISTINCT FROM model
        RETURNING 1
    )
    SELECT count(*) FROM changed
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
