// A copy reads the log in pages by its key.
CREATE INDEX maintenance_entry_by_key IF NOT EXISTS FOR (e:MaintenanceEntry) ON (e.tenant_id, e.entry_id);
