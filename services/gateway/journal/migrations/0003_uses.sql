-- Notes that a recall returned together are counted as used together, behind the response. A row with a time is to be
-- reported to the agentic tier from then on; a replica that reports it moves the time ahead first.
ALTER TABLE recalls ADD COLUMN uses_due timestamptz;
CREATE INDEX recalls_uses_due ON recalls (uses_due) WHERE uses_due IS NOT NULL;
