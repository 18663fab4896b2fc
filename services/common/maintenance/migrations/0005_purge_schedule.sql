-- Whether a job or a command asked for it.
ALTER TABLE purges ADD COLUMN is_scheduled boolean NOT NULL DEFAULT false;

-- One row: what was erased since the files were purged, and when the job that purges them will. It holds no content.
CREATE TABLE purge_schedule (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    first_time  timestamptz,                 -- when the first erasure was done that no purge followed; null: there is none
    last_time   timestamptz,                 -- when the last one was
    memories    bigint NOT NULL DEFAULT 0,   -- that these erased, in all stores
    age_seconds double precision,            -- how long after an erasure the job purges at the latest; null: it never ran
    look_time   timestamptz                  -- when the job last looked
);
