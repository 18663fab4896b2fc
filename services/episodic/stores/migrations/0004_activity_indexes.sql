-- A write looks its ids up by the primary key. Until a table is analyzed the server takes any index that begins with
-- tenant and user for as good, and would read all records of the user for each id. An index with a condition is not
-- used for that: lists name the condition, which every record fulfils, and writes do not.

DROP INDEX activity_tools_by_time, activity_files_by_time, activity_files_by_path, activity_snapshots_by_time,
    activity_learnings_by_time;

CREATE INDEX activity_tools_by_time ON activity_tools (tenant_id, user_id, time DESC) WHERE record_id <> '';
CREATE INDEX activity_files_by_time ON activity_files (tenant_id, user_id, time DESC) WHERE record_id <> '';
CREATE INDEX activity_files_by_path ON activity_files (tenant_id, user_id, path, time DESC) WHERE record_id <> '';
CREATE INDEX activity_snapshots_by_time ON activity_snapshots (tenant_id, user_id, time DESC) WHERE record_id <> '';
CREATE INDEX activity_learnings_by_time ON activity_learnings (tenant_id, user_id, time DESC) WHERE record_id <> '';
