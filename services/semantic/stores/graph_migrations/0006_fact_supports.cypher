// Interactions that support a fact by a statement of their own, which says the same in other words.
CREATE CONSTRAINT mneme_fact_support_key IF NOT EXISTS
FOR (s:MnemeFactSupport) REQUIRE (s.tenant_id, s.user_id, s.fact_id, s.interaction_id) IS UNIQUE;
