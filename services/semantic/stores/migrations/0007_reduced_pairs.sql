-- Pairs of which neither statement is marked, and whose facts are believed half as much, are found by both.
CREATE INDEX supersessions_reduced ON supersessions (tenant_id, user_id, winner_id, winner_number) WHERE state = 4;
