// Claims of maintenance jobs with their cursors, the log of what runs changed, and idempotency records. Empty tenant and
// user: a whole store. Times are whole microseconds since 1970.

CREATE CONSTRAINT maintenance_claim_key IF NOT EXISTS
FOR (c:MaintenanceClaim) REQUIRE (c.tenant_id, c.user_id, c.job) IS UNIQUE;

CREATE CONSTRAINT maintenance_counter_key IF NOT EXISTS
FOR (c:MaintenanceCounter) REQUIRE (c.name) IS UNIQUE;

CREATE CONSTRAINT maintenance_entry_key IF NOT EXISTS
FOR (e:MaintenanceEntry) REQUIRE (e.entry_id) IS UNIQUE;
CREATE INDEX maintenance_entry_by_run IF NOT EXISTS FOR (e:MaintenanceEntry) ON (e.run_id);
CREATE INDEX maintenance_entry_by_user IF NOT EXISTS FOR (e:MaintenanceEntry) ON (e.tenant_id, e.user_id, e.run_id);

CREATE CONSTRAINT maintenance_idempotency_key IF NOT EXISTS
FOR (r:MaintenanceIdempotencyRecord) REQUIRE (r.tenant_id, r.principal_id, r.request_id) IS UNIQUE;
CREATE INDEX maintenance_idempotency_oldest IF NOT EXISTS
FOR (r:MaintenanceIdempotencyRecord) ON (r.tenant_id, r.create_time);
CREATE INDEX maintenance_idempotency_user IF NOT EXISTS
FOR (r:MaintenanceIdempotencyRecord) ON (r.tenant_id, r.user_id);
