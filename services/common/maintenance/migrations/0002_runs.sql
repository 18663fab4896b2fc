-- How often a job failed since it was last completed, and when that was.
ALTER TABLE claims ADD COLUMN failures integer NOT NULL DEFAULT 0;
ALTER TABLE claims ADD COLUMN complete_time timestamptz;

-- Runs of a user, the newest first: ids of runs rise with time.
CREATE INDEX log_by_user_run ON log (tenant_id, user_id, run_id);
DROP INDEX log_by_user;

CREATE TABLE idempotency_records (
    tenant_id text NOT NULL,
    principal_id text NOT NULL,
    request_id text NOT NULL,
    digest text NOT NULL,
    user_id text NOT NULL,
    resource_id text NOT NULL,
    response text,
    create_time timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, principal_id, request_id)
);
CREATE INDEX idempotency_records_oldest ON idempotency_records (tenant_id, create_time);
CREATE INDEX idempotency_records_by_user ON idempotency_records (tenant_id, user_id);
ALTER TABLE idempotency_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_records FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_records
    USING (tenant_id = current_setting('mneme.tenant', true) OR current_setting('mneme.worker', true) = 'on');
