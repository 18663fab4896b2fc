// Groups of similar facts: those that wait for somebody to decide whether they say the same, and the decisions.
CREATE CONSTRAINT mneme_merge_group_key IF NOT EXISTS
FOR (g:MnemeMergeGroup) REQUIRE (g.tenant_id, g.user_id, g.group_id) IS UNIQUE;
CREATE INDEX mneme_merge_group_newest IF NOT EXISTS
FOR (g:MnemeMergeGroup) ON (g.tenant_id, g.user_id, g.create_time);
