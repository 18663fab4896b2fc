-- The one embedded index that is filled from this database; two would undo each other's work.
CREATE TABLE embedded_index (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    -- Model and shard, which one process has locked.
    index_name text NOT NULL,
    -- Host and folder, for the error message.
    place text NOT NULL,
    -- Raised while the index's service lives.
    heartbeat bigint NOT NULL DEFAULT 0
);
