-- A caller that has cached a user's marks is sent those that were added since: each has the revision that it came with.
-- What was cached before `marks_base` is of no use: marks were changed or removed at that revision.
ALTER TABLE supersessions ADD COLUMN marks_revision bigint NOT NULL DEFAULT 0;
ALTER TABLE owner_revisions ADD COLUMN marks_base bigint NOT NULL DEFAULT 0;
CREATE INDEX supersessions_since ON supersessions (tenant_id, user_id, marks_revision) WHERE state IN (1, 4);
UPDATE owner_revisions SET marks_base = marks;
