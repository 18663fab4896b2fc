-- Writes of facts are numbered, so that whoever keeps a user's vectors in memory asks for what is new or changed alone.
-- Works on one user run one after the other, so that of one user's the numbers rise in the order of their commits. A
-- number holds for this database alone, as the sequence belongs to the column: a copy of the installation numbers its own.
--
-- Rewrites the table: some 7 s for the 210,000 facts of a million memories.
CREATE SEQUENCE fact_numbers;
ALTER TABLE facts ADD COLUMN number bigint NOT NULL DEFAULT nextval('fact_numbers');
ALTER SEQUENCE fact_numbers OWNED BY facts.number;

CREATE INDEX facts_by_number ON facts (tenant_id, user_id, number);
