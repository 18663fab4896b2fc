// Pairs of statements by what became of them: those that wait for a decision are read alone.
CREATE INDEX mneme_supersession_by_state IF NOT EXISTS
FOR (s:MnemeSupersession) ON (s.tenant_id, s.user_id, s.state, s.create_time);
