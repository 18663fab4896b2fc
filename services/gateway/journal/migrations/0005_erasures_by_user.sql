-- For lists of a user's erasures; ids grow with time.
CREATE INDEX erasures_by_user ON erasures (tenant_id, user_id, erasure_id);
