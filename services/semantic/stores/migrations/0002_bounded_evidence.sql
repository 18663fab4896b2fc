-- What a statement needs is read by the newest rows of its fact and of its topic, however many there are.

-- Interactions that support it, also those that derived_from no longer names. Null: derived_from names them all.
ALTER TABLE facts ADD COLUMN evidence_count bigint;

DROP INDEX facts_by_topic;
CREATE INDEX facts_by_topic ON facts (tenant_id, user_id, topic, last_confirmed_time DESC, fact_id)
WHERE topic IS NOT NULL;
CREATE INDEX fact_statements_by_time
ON fact_statements (tenant_id, user_id, fact_id, time DESC, statement_id DESC);
