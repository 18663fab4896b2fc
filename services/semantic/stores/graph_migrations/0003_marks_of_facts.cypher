// What superseded the sentences that a fact was read in is found by them.
CREATE INDEX mneme_supersession_by_loser IF NOT EXISTS
FOR (s:MnemeSupersession) ON (s.tenant_id, s.user_id, s.loser_id, s.loser_number);
