-- When an episode was archived, so that it is found as of a time before. Null where it is not archived, and where it was
-- archived before the time was stored.
ALTER TABLE episodes ADD COLUMN archive_time timestamptz;

-- Searches as of a time read archived episodes alone, and none of a user who has none.
CREATE INDEX episodes_archived ON episodes (tenant_id, user_id, time) WHERE status = 3;
