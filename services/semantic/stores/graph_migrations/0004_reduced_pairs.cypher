// Pairs of which neither statement is marked, and whose facts are believed half as much, are found by both.
CREATE INDEX mneme_supersession_by_winner IF NOT EXISTS
FOR (s:MnemeSupersession) ON (s.tenant_id, s.user_id, s.winner_id, s.winner_number);
