// What was taken back is looked up before a job makes its changes.
CREATE INDEX maintenance_entry_undone IF NOT EXISTS
FOR (e:MaintenanceEntry) ON (e.tenant_id, e.user_id, e.job, e.is_undone);
