-- Which users have vectors of a former embedding model is found in this index alone, however many facts there are.
CREATE INDEX facts_by_model ON facts (tenant_id, user_id, embedding_model);
