-- The journal: the conversation log, the outbox of deliveries, what recalls returned, grants, and idempotency records.
--
-- What grows with every turn or recall is partitioned by the hash of the tenant, so that no table, index or vacuum grows
-- with all tenants. Eight parts: each costs every connection memory. Statements name the tenant, so they look at one part.
-- Not partitioned: deliveries, a queue that empties and is claimed over all tenants; speakers and grants, a few per user.

CREATE SEQUENCE journal_sequence;
GRANT USAGE, SELECT ON SEQUENCE journal_sequence TO mneme_app;

CREATE TABLE conversations (
    tenant_id         text NOT NULL,
    user_id           text NOT NULL,
    conversation_id   text NOT NULL,
    next_position     bigint NOT NULL,
    interaction_count bigint NOT NULL,            -- smaller than next_position once interactions were removed
    session_start     bigint NOT NULL DEFAULT 0,  -- turns before it belong to sessions that were ended
    session_window    integer,                    -- the session's own settings; NULL: the defaults
    session_ttl       interval,
    session_active    timestamptz,
    create_time       timestamptz NOT NULL,
    update_time       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, conversation_id)
) PARTITION BY HASH (tenant_id);
CREATE INDEX conversations_by_update
    ON conversations (tenant_id, user_id, update_time DESC, conversation_id);

CREATE TABLE interactions (
    tenant_id       text NOT NULL,
    interaction_id  uuid NOT NULL,
    sequence        bigint NOT NULL,
    user_id         text NOT NULL,
    conversation_id text NOT NULL,
    position        bigint NOT NULL,
    role            smallint NOT NULL,
    speaker         text NOT NULL,
    content         text NOT NULL,
    said_time       timestamptz NOT NULL,
    extra           jsonb,               -- attachments, confidence, importance, sources, metadata; NULL without any
    scope_key       text NOT NULL,
    gate_reason     smallint NOT NULL,   -- the write gate's verdict; numbers of GateReason
    gate_detail     text NOT NULL,
    create_time     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, interaction_id),
    UNIQUE (tenant_id, user_id, conversation_id, position)
) PARTITION BY HASH (tenant_id);

-- Names that a user's turns were said by; questions are read with them.
CREATE TABLE speakers (
    tenant_id text NOT NULL,
    user_id   text NOT NULL,
    speaker   text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, speaker)
);

CREATE TABLE feedback (
    tenant_id   text NOT NULL,
    feedback_id uuid NOT NULL,
    sequence    bigint NOT NULL,
    user_id     text NOT NULL,
    recall_id   uuid,                    -- of feedback on a recall as a whole
    kinds       smallint[] NOT NULL,     -- of memory_ids, one for one
    memory_ids  uuid[] NOT NULL,
    value       smallint NOT NULL CHECK (value BETWEEN -1 AND 1),
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, feedback_id)
) PARTITION BY HASH (tenant_id);
CREATE INDEX feedback_by_user ON feedback (tenant_id, user_id);

-- What each recall returned, for feedback that judges a recall as a whole. Purged by age.
CREATE TABLE recalls (
    tenant_id   text NOT NULL,
    recall_id   uuid NOT NULL,
    user_id     text NOT NULL,
    kinds       smallint[] NOT NULL,     -- of memory_ids, one for one
    memory_ids  uuid[] NOT NULL,
    create_time timestamptz NOT NULL,
    query       text NOT NULL,           -- empty: long, or a memory that was returned has been erased
    scope_key   text NOT NULL,           -- the reader's
    procedure_ids uuid[] NOT NULL,       -- procedures that were applied
    PRIMARY KEY (tenant_id, recall_id)
) PARTITION BY HASH (tenant_id);
CREATE INDEX recalls_by_user ON recalls (tenant_id, user_id);
CREATE INDEX recalls_by_age ON recalls (create_time);

CREATE TABLE requests (
    tenant_id    text NOT NULL,
    principal_id text NOT NULL,
    method       text NOT NULL,
    request_id   text NOT NULL,
    user_id      text NOT NULL,          -- whose memory the request was about; empty for none's
    request_hash bytea NOT NULL,
    response     jsonb,
    create_time  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, method, request_id)
) PARTITION BY HASH (tenant_id);
CREATE INDEX requests_by_age ON requests (create_time);
CREATE INDEX requests_by_user ON requests (tenant_id, user_id);

-- Interactions that were removed: they are never archived to the log again from a session that still holds them.
CREATE TABLE tombstones (
    tenant_id      text NOT NULL,
    interaction_id uuid NOT NULL,        -- a digest of it
    create_time    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, interaction_id)
) PARTITION BY HASH (tenant_id);

DO $$
DECLARE part record;
BEGIN
    FOR part IN
        SELECT t.name AS whole, t.name || '_' || n AS name, t.options, n
        FROM (VALUES ('conversations', 'WITH (fillfactor = 70)'),  -- every Remember updates its conversation in place
                     ('interactions', ''), ('feedback', ''), ('recalls', ''), ('requests', ''), ('tombstones', ''))
             AS t (name, options)
        CROSS JOIN generate_series(0, 7) AS n
    LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s) %s',
                       part.name, part.whole, part.n, part.options);
    END LOOP;
END $$;

-- A row stands here until its tier has taken it. A dead letter (given_up_time set) waits for an operator.
CREATE TABLE deliveries (
    tenant_id         text NOT NULL,
    delivery_id       bigint GENERATED ALWAYS AS IDENTITY,
    tier              smallint NOT NULL,
    kind              smallint NOT NULL,   -- 1 interaction, 2 feedback, 3 event of a session
    subject_id        uuid NOT NULL,
    sequence          bigint NOT NULL,     -- the subject's, which consistency tokens name
    user_id           text NOT NULL,
    attempts          smallint NOT NULL DEFAULT 0,
    next_attempt_time timestamptz NOT NULL,
    last_reason       text NOT NULL DEFAULT '',
    last_detail       text NOT NULL DEFAULT '',
    given_up_time     timestamptz,
    trace_context     text NOT NULL DEFAULT '',
    create_time       timestamptz NOT NULL,
    payload           bytea,               -- the event of a session; the other subjects have tables of their own
    PRIMARY KEY (tenant_id, delivery_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- By tenant, so that a claim steps from one tenant with a backlog to the next.
CREATE INDEX deliveries_due ON deliveries (tier, tenant_id, next_attempt_time, delivery_id)
    WHERE given_up_time IS NULL;
CREATE INDEX deliveries_by_sequence ON deliveries (tenant_id, sequence);
CREATE INDEX deliveries_dead ON deliveries (tenant_id, delivery_id) WHERE given_up_time IS NOT NULL;

-- Grants: readers of one place see the memories of another.
CREATE TABLE grants (
    tenant_id    text NOT NULL,
    user_id      text NOT NULL,
    grant_id     uuid NOT NULL,
    from_key     text NOT NULL,          -- the place whose memories are seen; keys of scopes
    to_key       text NOT NULL,          -- the place whose readers see them
    kinds        smallint[] NOT NULL,    -- which memories; empty for all
    expire_time  timestamptz,            -- NULL for never
    principal_id text NOT NULL,          -- who created or replaced it last
    create_time  timestamptz NOT NULL,   -- or replaced it
    PRIMARY KEY (tenant_id, user_id, grant_id),
    UNIQUE (tenant_id, user_id, from_key, to_key)
);

-- Erasures with their receipts, without content. `step` and `position` are where the worker resumes.
CREATE TABLE erasures (
    tenant_id         text NOT NULL,
    erasure_id        uuid NOT NULL,
    user_id           text NOT NULL,     -- empty for the whole tenant
    kind              smallint NOT NULL, -- what is erased; numbers of TargetKind
    target            jsonb NOT NULL,    -- a conversation or scopes; emptied when it is done
    step              smallint NOT NULL DEFAULT 0,
    position          text NOT NULL DEFAULT '',
    receipt           jsonb NOT NULL DEFAULT '{}', -- counts by step
    attempts          smallint NOT NULL DEFAULT 0, -- failures in a row
    next_attempt_time timestamptz NOT NULL,
    create_time       timestamptz NOT NULL,
    complete_time     timestamptz,
    PRIMARY KEY (tenant_id, erasure_id)
);
CREATE INDEX erasures_due ON erasures (next_attempt_time) WHERE complete_time IS NULL;

-- The file that a user was imported from, so that an interrupted import is resumed and a repeat writes nothing.
CREATE TABLE imports (
    tenant_id     text NOT NULL,
    user_id       text NOT NULL,
    digest        bytea NOT NULL,              -- of the whole file
    restored      bigint NOT NULL DEFAULT 0,   -- turns that had been erased before
    create_time   timestamptz NOT NULL,
    complete_time timestamptz,
    PRIMARY KEY (tenant_id, user_id)
);

-- What a pending erasure erases: ids without content, deleted when it is done.
CREATE TABLE erasure_items (
    tenant_id  text NOT NULL,
    erasure_id uuid NOT NULL,
    kind       smallint NOT NULL,        -- numbers of ItemKind
    user_id    text NOT NULL,
    item_id    text NOT NULL,
    PRIMARY KEY (tenant_id, erasure_id, kind, user_id, item_id)
);

-- What each gateway was asked for in the last second, for the rates of tenants. Outdated at once: not logged.
CREATE UNLOGGED TABLE call_demand (
    tenant_id   text NOT NULL,
    kind        text NOT NULL,           -- a CallKind
    replica_id  text NOT NULL,
    calls       bigint NOT NULL,         -- refused ones included
    report_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, kind, replica_id)
);

-- Who did what to which memory, and who read it. Entries are only ever added. `commitment` is SHA-256 of salt and body; the
-- entries with a leaf_index are the leaves of the tenant's Merkle tree, in this order. Others are appended within a second.
-- Erasing a user takes salt and body away: the commitment stays, so that proofs hold, and says nothing.
CREATE TABLE audit_entries (
    tenant_id  text NOT NULL,
    entry_id   bigint GENERATED ALWAYS AS IDENTITY,
    leaf_index bigint,
    user_id    text NOT NULL,            -- empty: about no user, or erased
    salt       bytea,
    body       text,
    commitment bytea NOT NULL,
    PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX audit_entries_waiting ON audit_entries (tenant_id, entry_id) WHERE leaf_index IS NULL;
CREATE UNIQUE INDEX audit_entries_by_leaf ON audit_entries (tenant_id, leaf_index) WHERE leaf_index IS NOT NULL;
CREATE INDEX audit_entries_by_user ON audit_entries (tenant_id, user_id) WHERE user_id <> '';

-- The tree of each tenant: its size, and the roots of its complete subtrees, largest first.
CREATE TABLE audit_trees (
    tenant_id text NOT NULL PRIMARY KEY,
    size      bigint NOT NULL,
    roots     bytea[] NOT NULL
);

CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.tenant_id = OLD.tenant_id AND NEW.entry_id = OLD.entry_id
        AND NEW.commitment = OLD.commitment
        AND (NEW.leaf_index IS NOT DISTINCT FROM OLD.leaf_index OR OLD.leaf_index IS NULL)
        AND ((NEW.salt IS NOT DISTINCT FROM OLD.salt AND NEW.body IS NOT DISTINCT FROM OLD.body)
             OR (NEW.salt IS NULL AND NEW.body IS NULL))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();

-- Adds an entry, in the transaction of what it is about.
CREATE FUNCTION audit(
    p_tenant text, p_principal text, p_method text, p_request_id text, p_user text, p_memories uuid[], p_now timestamptz
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    new_salt bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    new_body text := jsonb_build_object(
        'time', to_char(p_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'principal', p_principal,
        'method', p_method, 'request_id', p_request_id, 'user_id', p_user, 'memories', to_jsonb(p_memories)
    )::text;
BEGIN
    INSERT INTO audit_entries (tenant_id, user_id, salt, body, commitment)
    VALUES (p_tenant, p_user, new_salt, new_body, sha256(new_salt || convert_to(new_body, 'UTF8')));
END $$;

-- Tenants see their own rows; the background worker, which serves all of them, says so.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conversations', 'interactions', 'speakers', 'feedback', 'recalls', 'requests',
                                'tombstones', 'deliveries', 'grants', 'erasures', 'erasure_items', 'imports', 'call_demand',
                                'audit_entries', 'audit_trees'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)
                                            OR current_setting(''mneme.worker'', true) = ''on'')', name);
    END LOOP;
END $$;

-- Policies of a table do not hold for a part that a statement names itself: no role has a privilege on a part, and
-- without a policy of its own it shows no row to a role that is given one later.
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

-- Claims a request id. Returns the response to an earlier use, 'null' when the caller is the first.
-- A concurrent use of the same id waits here until the first one has committed.
CREATE FUNCTION claim_request(
    p_tenant text, p_principal text, p_method text, p_request_id text, p_user text, p_hash bytea, p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found_hash bytea; found_response jsonb;
BEGIN
    INSERT INTO requests (tenant_id, principal_id, method, request_id, user_id, request_hash, create_time)
    VALUES (p_tenant, p_principal, p_method, p_request_id, p_user, p_hash, p_now)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF p_method NOT IN ('Remember', 'Feedback') THEN  -- these name their memories themselves
            PERFORM audit(p_tenant, p_principal, p_method, p_request_id, p_user, '{}', p_now);
        END IF;
        RETURN NULL;
    END IF;
    SELECT request_hash, response INTO found_hash, found_response FROM requests
    WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = p_method AND request_id = p_request_id;
    IF found_hash IS DISTINCT FROM p_hash THEN
        RETURN '{"reused": true}'::jsonb;
    END IF;
    RETURN found_response;
END $$;

-- Appends turns to a conversation with their deliveries, all or nothing, in one round trip. A session delivery
-- waits for p_session_delay, where the gateway tries the session itself before it acknowledges. Turns that the write gate
-- stopped (p_gated) are delivered to p_gated_tiers only.
CREATE FUNCTION append_interactions(
    p_tenant text, p_principal text, p_request_id text, p_hash bytea,
    p_user text, p_conversation text, p_scope_key text,
    p_ids uuid[], p_roles smallint[], p_speakers text[], p_contents text[], p_times timestamptz[], p_extras jsonb[],
    p_gate_reasons smallint[], p_gate_details text[], p_gated boolean[],
    p_tiers smallint[], p_gated_tiers smallint[], p_session_tier smallint, p_session_delay interval, p_trace text, p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE result jsonb; first_position bigint; first_sequence bigint; last_sequence bigint; turn_count int;
BEGIN
    PERFORM set_config('mneme.tenant', p_tenant, true);
    IF p_request_id <> '' THEN
        result := claim_request(p_tenant, p_principal, 'Remember', p_request_id, p_user, p_hash, p_now);
        IF result IS NOT NULL THEN
            RETURN result || '{"replayed": true}'::jsonb;
        END IF;
    END IF;
    turn_count := cardinality(p_ids);
    INSERT INTO conversations AS c (tenant_id, user_id, conversation_id, next_position, interaction_count,
                                    create_time, update_time)
    VALUES (p_tenant, p_user, p_conversation, turn_count, turn_count, p_now, p_now)
    ON CONFLICT (tenant_id, user_id, conversation_id)
        DO UPDATE SET next_position = c.next_position + turn_count,
                      interaction_count = c.interaction_count + turn_count,
                      update_time = greatest(c.update_time, p_now)
    RETURNING next_position - turn_count INTO first_position;

    WITH added AS (
        INSERT INTO interactions (tenant_id, interaction_id, sequence, user_id, conversation_id, position, role,
                                  speaker, content, said_time, extra, scope_key, gate_reason, gate_detail,
                                  create_time)
        SELECT p_tenant, t.id, nextval('journal_sequence'), p_user, p_conversation, first_position + t.n - 1, t.role,
               t.speaker, t.content, t.said_time, t.extra, p_scope_key, t.gate_reason, t.gate_detail, p_now
        FROM unnest(p_ids, p_roles, p_speakers, p_contents, p_times, p_extras, p_gate_reasons, p_gate_details)
             WITH ORDINALITY AS t (id, role, speaker, content, said_time, extra, gate_reason, gate_detail, n)
        RETURNING interaction_id, sequence
    ), sent AS (
        INSERT INTO deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, next_attempt_time,
                                trace_context, create_time)
        SELECT p_tenant, tier, 1, added.interaction_id, added.sequence, p_user,
               CASE WHEN tier = p_session_tier THEN p_now + p_session_delay ELSE p_now END, p_trace, p_now
        FROM added
        JOIN unnest(p_ids, p_gated) AS judged (interaction_id, gated) USING (interaction_id)
        CROSS JOIN unnest(p_tiers) AS tier
        WHERE NOT judged.gated OR tier = ANY(p_gated_tiers)
    )
    SELECT min(sequence), max(sequence) INTO first_sequence, last_sequence FROM added;

    INSERT INTO speakers (tenant_id, user_id, speaker)
    SELECT p_tenant, p_user, s FROM (SELECT DISTINCT unnest(p_speakers) AS s) AS names
    WHERE s <> '' AND NOT EXISTS (
        SELECT 1 FROM speakers k WHERE k.tenant_id = p_tenant AND k.user_id = p_user AND k.speaker = s)
    ON CONFLICT DO NOTHING;

    result := jsonb_build_object('ids', to_jsonb(p_ids), 'position', first_position,
                                 'first', first_sequence, 'last', last_sequence,
                                 'reasons', to_jsonb(p_gate_reasons), 'details', to_jsonb(p_gate_details));
    IF p_request_id <> '' THEN
        UPDATE requests SET response = result
        WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = 'Remember' AND request_id = p_request_id;
    END IF;
    PERFORM audit(p_tenant, p_principal, 'Remember', p_request_id, p_user, p_ids, p_now);
    RETURN result;
END $$;

-- Writes feedback with its deliveries.
CREATE FUNCTION append_feedback(
    p_tenant text, p_principal text, p_request_id text, p_hash bytea, p_user text, p_feedback_id uuid,
    p_recall_id uuid, p_kinds smallint[], p_memory_ids uuid[], p_value smallint, p_tiers smallint[], p_trace text, p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE result jsonb; new_sequence bigint;
BEGIN
    PERFORM set_config('mneme.tenant', p_tenant, true);
    result := claim_request(p_tenant, p_principal, 'Feedback', p_request_id, p_user, p_hash, p_now);
    IF result IS NOT NULL THEN
        RETURN result || '{"replayed": true}'::jsonb;
    END IF;
    new_sequence := nextval('journal_sequence');
    INSERT INTO feedback (tenant_id, feedback_id, sequence, user_id, recall_id, kinds, memory_ids, value, create_time)
    VALUES (p_tenant, p_feedback_id, new_sequence, p_user, p_recall_id, p_kinds, p_memory_ids, p_value, p_now);
    INSERT INTO deliveries (tenant_id, tier, kind, subject_id, sequence, user_id, next_attempt_time, trace_context,
                            create_time)
    SELECT p_tenant, tier, 2, p_feedback_id, new_sequence, p_user, p_now, p_trace, p_now FROM unnest(p_tiers) AS tier;
    result := jsonb_build_object('first', new_sequence, 'last', new_sequence, 'memories', cardinality(p_memory_ids));
    UPDATE requests SET response = result
    WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = 'Feedback' AND request_id = p_request_id;
    PERFORM audit(p_tenant, p_principal, 'Feedback', p_request_id, p_user, p_memory_ids, p_now);
    RETURN result;
END $$;

-- Makes dead letters due again.
CREATE FUNCTION retry_deliveries(
    p_tenant text, p_principal text, p_request_id text, p_hash bytea, p_ids bigint[], p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE result jsonb; retried int;
BEGIN
    PERFORM set_config('mneme.tenant', p_tenant, true);
    result := claim_request(p_tenant, p_principal, 'RetryDeadLetters', p_request_id, '', p_hash, p_now);
    IF result IS NOT NULL THEN
        RETURN result;
    END IF;
    UPDATE deliveries SET given_up_time = NULL, attempts = 0, next_attempt_time = p_now
    WHERE tenant_id = p_tenant AND delivery_id = ANY(p_ids) AND given_up_time IS NOT NULL;
    GET DIAGNOSTICS retried = ROW_COUNT;
    result := jsonb_build_object('retried', retried);
    UPDATE requests SET response = result
    WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = 'RetryDeadLetters'
        AND request_id = p_request_id;
    RETURN result;
END $$;

-- The next tenants behind p_after, up to p_until where that is given, at most p_tenants with deliveries due and p_steps in
-- all, in the order of their ids. Each step is one look into deliveries_due, however long the backlogs are. Where the
-- walk came to its end, the last row has no tenant.
CREATE FUNCTION tenants_due(
    p_tier smallint, p_now timestamptz, p_after text, p_until text, p_tenants int, p_steps int
) RETURNS TABLE (tenant text, is_due boolean) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE found_count int := 0; earliest timestamptz;
BEGIN
    tenant := p_after;
    FOR step IN 1..p_steps LOOP
        SELECT d.tenant_id, d.next_attempt_time INTO tenant, earliest FROM deliveries AS d
        WHERE d.tier = p_tier AND d.given_up_time IS NULL AND d.tenant_id > tenant
            AND (p_until IS NULL OR d.tenant_id <= p_until)
        ORDER BY d.tenant_id, d.next_attempt_time LIMIT 1;
        is_due := tenant IS NOT NULL AND earliest <= p_now;
        RETURN NEXT;
        EXIT WHEN tenant IS NULL;
        found_count := found_count + is_due::int;
        EXIT WHEN found_count >= p_tenants;
    END LOOP;
END $$;
