// Entries beyond their retention are removed by age.
CREATE INDEX maintenance_entry_by_age IF NOT EXISTS FOR (e:MaintenanceEntry) ON (e.create_time);
