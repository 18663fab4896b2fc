-- A correction may name the words of a sentence that are wrong: a fact that has none of them stands.
ALTER TABLE supersessions ADD COLUMN is_called_wrong boolean NOT NULL DEFAULT false;
