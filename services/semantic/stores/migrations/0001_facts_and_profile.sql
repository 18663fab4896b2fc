-- Facts with their statements and vectors, profiles, marks of what was read, source code, and idempotency records.
--
-- Tables that grow with every turn are partitioned by the hash of the tenant. Statements name the tenant, so each reads one
-- partition. Not partitioned: profiles and revisions, a row for each user; idempotency records, of which old
-- ones are deleted.

-- Numbers the writes of facts, so that a cache asks for what is new or changed. Writes of one user are serialized: the numbers
-- rise in the order of their commits. The numbers are of this database: a copy of the installation has its own.
CREATE SEQUENCE fact_numbers;

CREATE TABLE facts (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    fact_id uuid NOT NULL,
    -- Digests: what it means, what it says, and which facts may exclude it.
    identity bytea NOT NULL,
    text_identity bytea NOT NULL,
    topic bytea,
    text text NOT NULL,
    subject text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    category smallint NOT NULL,
    confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    importance double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
    first_observed_time timestamptz NOT NULL,
    last_confirmed_time timestamptz NOT NULL,
    valid_from_time timestamptz,
    valid_to_time timestamptz,
    derived_from uuid[] NOT NULL,
    contradictions uuid[] NOT NULL,
    status smallint NOT NULL,
    -- What an archived fact is restored to.
    previous_status smallint,
    merged_into_fact_id uuid,
    versions jsonb NOT NULL,
    scope_key text NOT NULL,
    revision bigint NOT NULL,
    embedding_model text NOT NULL,
    embedding vector NOT NULL,
    -- Interactions that support it, also those that derived_from no longer names.
    evidence_count bigint NOT NULL,
    -- The last judgement; the confidence follows from it too.
    feedback smallint NOT NULL DEFAULT 0 CHECK (feedback BETWEEN -1 AND 1),
    number bigint NOT NULL DEFAULT nextval('fact_numbers'),
    -- When the confidence falls below the threshold if no evidence comes until then. Null: it does not fade.
    fade_time timestamptz,
    PRIMARY KEY (tenant_id, user_id, fact_id),
    UNIQUE (tenant_id, user_id, identity)
)
PARTITION BY HASH (tenant_id);
-- Inline: fetching vectors from the side table costs more than comparing them.
ALTER TABLE facts ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER SEQUENCE fact_numbers OWNED BY facts.number;
CREATE INDEX facts_last_confirmed ON facts (tenant_id, user_id, last_confirmed_time DESC, fact_id);
CREATE INDEX facts_by_topic ON facts (tenant_id, user_id, topic, last_confirmed_time DESC, fact_id)
WHERE topic IS NOT NULL;
CREATE INDEX facts_by_text ON facts (tenant_id, user_id, text_identity);
CREATE INDEX facts_by_number ON facts (tenant_id, user_id, number);
CREATE INDEX facts_active ON facts (tenant_id, user_id, fade_time) WHERE status IN (1, 2);

-- The evidence: a fact's state follows from these rows.
CREATE TABLE fact_statements (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    fact_id uuid NOT NULL,
    statement_id uuid NOT NULL,
    time timestamptz NOT NULL,
    text text NOT NULL,
    category smallint NOT NULL,
    confidence double precision NOT NULL,
    importance double precision NOT NULL,
    subject text NOT NULL,
    predicate text NOT NULL,
    object text NOT NULL,
    valid_from_time timestamptz,
    valid_to_time timestamptz,
    interaction_ids uuid[] NOT NULL,
    is_correction boolean NOT NULL,
    -- When it was stored. Null: when it was said.
    recorded_time timestamptz,
    PRIMARY KEY (tenant_id, user_id, fact_id, statement_id),
    FOREIGN KEY (tenant_id, user_id, fact_id) REFERENCES facts ON DELETE CASCADE
)
PARTITION BY HASH (tenant_id);

CREATE INDEX fact_statements_by_time
ON fact_statements (tenant_id, user_id, fact_id, time DESC, statement_id DESC);

-- A deletion leaves no row with a number. It raises its user's epoch instead, in the same transaction: a cache that was
-- loaded at another epoch, in whichever replica, is loaded again.
CREATE TABLE owner_revisions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    epoch bigint NOT NULL,
    -- Raised with every change of the user's applied supersessions.
    marks bigint NOT NULL DEFAULT 0,
    -- Raised with every change of the user's procedures.
    procedures bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, user_id)
)
WITH (fillfactor = 50);

-- Runs as the owner of the table: background work across tenants deletes too.
CREATE FUNCTION raise_epochs() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = semantic, pg_temp
AS $$
BEGIN
    INSERT INTO owner_revisions AS o (tenant_id, user_id, epoch)
    SELECT DISTINCT r.tenant_id, r.user_id, 1 FROM removed AS r ORDER BY r.tenant_id, r.user_id
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET epoch = o.epoch + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER facts_raise_epochs AFTER DELETE ON facts REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION raise_epochs();

-- Every interaction that was read, also those without a fact; and those that must not be read.
CREATE TABLE extracted_interactions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    fact_ids uuid[] NOT NULL,
    PRIMARY KEY (tenant_id, user_id, interaction_id)
)
PARTITION BY HASH (tenant_id);

-- What people state, sentence by sentence.
CREATE TABLE assertions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    -- The sentence's place in the turn, from 0.
    number integer NOT NULL,
    text text NOT NULL,
    speaker text NOT NULL,
    time timestamptz NOT NULL,
    scope_key text NOT NULL,
    -- Digests of tenant, user and content words: a word of one user is found without those of others.
    keys bigint[] NOT NULL,
    -- The turn says nothing else.
    is_only boolean NOT NULL,
    -- The turn says that something in it replaces what was said before.
    is_announced boolean NOT NULL,
    PRIMARY KEY (tenant_id, user_id, interaction_id, number)
)
PARTITION BY HASH (tenant_id);
CREATE INDEX assertions_by_key ON assertions USING gin (keys);

-- Pairs of statements of which one holds no more, or may not.
CREATE TABLE supersessions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    -- Names the pair, whichever side of it stands.
    supersession_id text NOT NULL,
    loser_id uuid NOT NULL,
    loser_number integer NOT NULL,
    winner_id uuid NOT NULL,
    winner_number integer NOT NULL,
    reason smallint NOT NULL,
    state smallint NOT NULL,
    end_time timestamptz NOT NULL,
    create_time timestamptz NOT NULL,
    statement text NOT NULL,
    standing_statement text NOT NULL,
    is_whole boolean NOT NULL,
    is_turned boolean NOT NULL,
    PRIMARY KEY (tenant_id, user_id, supersession_id)
)
PARTITION BY HASH (tenant_id);
CREATE INDEX supersessions_newest ON supersessions (tenant_id, user_id, create_time DESC, supersession_id);

-- Learned patterns. What is searched for stands in columns; `state` is all of it.
CREATE TABLE procedures (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    procedure_id uuid NOT NULL,
    kind smallint NOT NULL,
    -- A digest of kind, scope, trigger and action.
    identity text NOT NULL,
    confidence double precision NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    derived_from uuid[] NOT NULL,
    create_time timestamptz NOT NULL,
    state jsonb NOT NULL,
    PRIMARY KEY (tenant_id, user_id, procedure_id),
    UNIQUE (tenant_id, user_id, identity)
)
PARTITION BY HASH (tenant_id);
CREATE INDEX procedures_by_confidence ON procedures (tenant_id, user_id, kind, confidence DESC, create_time DESC);

-- Recalls that were judged, with their queries: procedures are learned from them.
CREATE TABLE judged_recalls (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    recall_id uuid NOT NULL,
    time timestamptz NOT NULL,
    state jsonb NOT NULL,
    PRIMARY KEY (tenant_id, user_id, recall_id)
)
PARTITION BY HASH (tenant_id);
CREATE INDEX judged_recalls_newest ON judged_recalls (tenant_id, user_id, time DESC, recall_id);

CREATE TABLE profiles (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    preferences jsonb NOT NULL,
    etag text NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

-- What each turn adds to a profile. Statistics and learned preferences follow from the rows, so that a removed turn leaves
-- nothing behind.
CREATE TABLE observed_interactions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    -- Null where the turn was not observed yet, or was removed.
    conversation_id text,
    context_id text,
    scope_key text,
    role smallint,
    time timestamptz,
    -- In millionths: sums of integers do not depend on the order of their parts.
    confidence bigint,
    query_type text,
    topics text[],
    sources text[],
    -- Preferences that the turn states.
    stated jsonb,
    feedback smallint NOT NULL DEFAULT 0,
    -- Never to be observed again.
    removed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, user_id, interaction_id)
)
PARTITION BY HASH (tenant_id);
CREATE INDEX observed_interactions_learned ON observed_interactions (tenant_id, user_id, time)
    WHERE stated IS NOT NULL OR feedback <> 0;

-- A repository of source code. Its files and what they define are read into memory and searched there.
CREATE TABLE code_repositories (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    repository_id text COLLATE "C" NOT NULL,
    -- Another one after a deletion. A copy of the installation has its own.
    epoch bigint GENERATED BY DEFAULT AS IDENTITY,
    -- Raised with each change.
    revision bigint NOT NULL,
    file_count integer NOT NULL,
    line_count bigint NOT NULL,
    create_time timestamptz NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id, repository_id)
);

CREATE TABLE code_files (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    repository_id text NOT NULL,
    path text COLLATE "C" NOT NULL,
    digest text NOT NULL,
    language text NOT NULL,
    status smallint NOT NULL,
    line_count integer NOT NULL,
    -- Definitions, references and terms as compressed JSON; not the text.
    content bytea NOT NULL,
    -- The revision of the repository that brought this state.
    revision bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, repository_id, path)
)
PARTITION BY HASH (tenant_id);
-- Compressed already.
ALTER TABLE code_files ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX code_files_by_revision ON code_files (tenant_id, user_id, repository_id, revision);

CREATE TABLE idempotency_records (
    tenant_id text NOT NULL,
    principal_id text NOT NULL,
    request_id text NOT NULL,
    digest text NOT NULL,
    user_id text NOT NULL,
    resource_id text NOT NULL,
    -- JSON. Null: erased together with the resource.
    response text,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, request_id)
);
CREATE INDEX idempotency_records_oldest ON idempotency_records (tenant_id, create_time);
CREATE INDEX idempotency_records_by_user ON idempotency_records (tenant_id, user_id);

-- Eight partitions: each costs every connection memory and every statement some planning.
DO $$
DECLARE
    whole text;
BEGIN
    FOREACH whole IN ARRAY ARRAY[
        'facts', 'fact_statements', 'assertions', 'supersessions', 'extracted_interactions', 'observed_interactions',
        'procedures', 'judged_recalls', 'code_files'
    ] LOOP
        FOR n IN 0..7 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 8, REMAINDER %s)', whole || '_' || n, whole, n
            );
        END LOOP;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', whole);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', whole);
        -- Not written with "=": an equality chooses partitions before the statement runs, and so before a statement that
        -- sets its own tenant has set it. All partitions would be passed over.
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I '
            'USING (tenant_id IS NOT DISTINCT FROM current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            whole
        );
    END LOOP;
    -- Maintenance counts the facts of all users.
    CREATE POLICY of_worker ON facts FOR SELECT USING (current_setting('mneme.worker', true) = 'on');
    FOREACH whole IN ARRAY ARRAY['profiles', 'idempotency_records', 'owner_revisions', 'code_repositories'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', whole);
        -- The owner raises epochs of any tenant.
        IF whole <> 'owner_revisions' THEN
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', whole);
        END IF;
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            whole
        );
    END LOOP;
END $$;

-- Policies of a table do not hold for partitions that are named themselves. Nobody is to name them: no role has a
-- privilege on them, and without a policy of their own they show no row. Done last, since references are checked
-- partition by partition.
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
