-- Purges of this installation's files: asked for here, done by whoever has the files. They hold no content.
CREATE TABLE purges (
    purge_id      uuid PRIMARY KEY,
    begin_time    timestamptz NOT NULL DEFAULT clock_timestamp(), -- what was erased before is gone when both parts are done
    database_time timestamptz,                                    -- when the database was rewritten
    index_time    timestamptz                                     -- when the embedded vector indexes were
);
CREATE INDEX purges_by_begin ON purges (begin_time);
