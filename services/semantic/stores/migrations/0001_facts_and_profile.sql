-- Facts with their statements and vectors, profiles, what was read already, and idempotency records.

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
    PRIMARY KEY (tenant_id, user_id, fact_id),
    UNIQUE (tenant_id, user_id, identity)
);
-- Inline: fetching vectors from the side table costs more than comparing them.
ALTER TABLE facts ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX facts_last_confirmed ON facts (tenant_id, user_id, last_confirmed_time DESC, fact_id);
CREATE INDEX facts_by_topic ON facts (tenant_id, user_id, topic) WHERE topic IS NOT NULL;
CREATE INDEX facts_by_text ON facts (tenant_id, user_id, text_identity);

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
    PRIMARY KEY (tenant_id, user_id, fact_id, statement_id),
    FOREIGN KEY (tenant_id, user_id, fact_id) REFERENCES facts ON DELETE CASCADE
);

-- Every interaction that was read, also those that gave no fact.
CREATE TABLE extracted_interactions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    fact_ids uuid[] NOT NULL,
    PRIMARY KEY (tenant_id, user_id, interaction_id)
);

CREATE TABLE profiles (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    preferences jsonb NOT NULL,
    etag text NOT NULL,
    update_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

CREATE TABLE observed_interactions (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    interaction_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, user_id, interaction_id)
);

CREATE TABLE observed_conversations (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    conversation_id text NOT NULL,
    PRIMARY KEY (tenant_id, user_id, conversation_id)
);

CREATE TABLE profile_statistics (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    user_turns bigint NOT NULL,
    assistant_turns bigint NOT NULL,
    conversations bigint NOT NULL,
    questions bigint NOT NULL,
    confidences bigint NOT NULL,
    -- In millionths: sums of integers do not depend on the order of their parts.
    confidence_sum bigint NOT NULL,
    -- User turns in each hour of the day, UTC: 24 numbers.
    hours bigint[] NOT NULL,
    first_time timestamptz NOT NULL,
    last_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

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

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'facts', 'fact_statements', 'extracted_interactions', 'profiles', 'observed_interactions',
        'observed_conversations', 'profile_statistics', 'idempotency_records'
    ] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY of_tenant ON %I USING (tenant_id = current_setting(''mneme.tenant'', true)) '
            'WITH CHECK (tenant_id = current_setting(''mneme.tenant'', true))',
            name
        );
    END LOOP;
END $$;
