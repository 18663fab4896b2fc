-- What was taken back is looked up before a job makes its changes.
CREATE INDEX log_undone ON log (tenant_id, user_id, job) WHERE is_undone;
