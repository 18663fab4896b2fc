-- For lists of a user's documents that begin with those written last.
CREATE INDEX documents_by_time ON documents (tenant_id, user_id, update_time DESC, namespace, key);
