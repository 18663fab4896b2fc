-- One row once a change of the embedding model was cut over: the model that embeds questions and what is written.
CREATE TABLE serving_model (
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    model       text NOT NULL,                                   -- its fingerprint
    former      text,                                            -- the one before; null: the change has ended
    revision    bigint NOT NULL DEFAULT 1,                       -- counts the changes
    change_time timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The processes that hold embedding models, as each reports from time to time. A crash of the server forgets them.
CREATE UNLOGGED TABLE model_holders (
    process_id  text PRIMARY KEY,
    service     text NOT NULL,                                   -- such as "gateway", or "all" for all of them in one
    models      text[] NOT NULL,                                 -- fingerprints that the process holds
    serving     text NOT NULL,                                   -- the one that it serves with
    report_time timestamptz NOT NULL
);
