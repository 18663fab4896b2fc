-- What was merged into a fact is found by it, whenever the fact is written: what supports one of them supports the fact.
CREATE INDEX facts_merged ON facts (tenant_id, user_id, merged_into_fact_id) WHERE merged_into_fact_id IS NOT NULL;
