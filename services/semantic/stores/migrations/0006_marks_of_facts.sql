-- What superseded the sentences that a fact was read in is found by them.
CREATE INDEX supersessions_by_loser ON supersessions (tenant_id, user_id, loser_id, loser_number);
