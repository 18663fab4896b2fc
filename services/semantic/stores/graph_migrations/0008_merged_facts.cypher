// What was merged into a fact is found by it, whenever the fact is written: what supports one of them supports the fact.
CREATE INDEX mneme_fact_merged IF NOT EXISTS
FOR (f:MnemeFact) ON (f.tenant_id, f.user_id, f.merged_into_fact_id);
