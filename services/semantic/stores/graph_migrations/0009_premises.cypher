// What rests on a statement is found by it: when that is decided about, or its turn is erased.
CREATE INDEX mneme_supersession_by_premise IF NOT EXISTS
FOR (s:MnemeSupersession) ON (s.tenant_id, s.user_id, s.premise_place);
