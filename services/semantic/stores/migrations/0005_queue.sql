-- Pairs of statements that wait for a decision are decided by a job, where a policy is configured.

-- Who decided: 1 the user, 2 a policy, 3 a language model. 0: the rules, as the statements arrived, or nobody yet.
ALTER TABLE supersessions ADD COLUMN decided_by smallint NOT NULL DEFAULT 0;
-- Why, in words. Empty where the user decided, or nobody.
ALTER TABLE supersessions ADD COLUMN decision_reason text NOT NULL DEFAULT '';
CREATE INDEX supersessions_queue ON supersessions (tenant_id, user_id, create_time, supersession_id)
WHERE state = 2 AND decided_by = 0;
-- The job lists the users of all tenants who have such pairs.
CREATE POLICY of_worker ON supersessions FOR SELECT USING (current_setting('mneme.worker', true) = 'on');

-- The sentences of the turn that a fact was read in, numbered as in `assertions`. Empty where not known.
ALTER TABLE fact_statements ADD COLUMN sentences integer[] NOT NULL DEFAULT '{}';
-- Whether another fact was read in one of these sentences.
ALTER TABLE fact_statements ADD COLUMN shares_sentence boolean NOT NULL DEFAULT false;
