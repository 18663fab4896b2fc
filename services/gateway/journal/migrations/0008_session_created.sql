-- A session that its store lost keeps its create time. Gateways of the version before leave it as it is.

ALTER TABLE conversations ADD COLUMN session_created timestamptz;  -- NULL: not known, or the session was ended
