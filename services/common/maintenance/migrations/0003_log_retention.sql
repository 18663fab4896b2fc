-- Entries beyond their retention are removed by age.
CREATE INDEX log_by_age ON log (create_time);
