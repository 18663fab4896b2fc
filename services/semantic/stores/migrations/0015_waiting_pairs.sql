-- Recalls show pairs that wait for a decision too: callers that have cached a user's marks are sent those that were added.
CREATE INDEX supersessions_read_since ON supersessions (tenant_id, user_id, marks_revision) WHERE state IN (1, 2, 4);
DROP INDEX supersessions_since;
