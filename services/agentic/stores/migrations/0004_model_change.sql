-- The job that makes vectors of a former embedding model anew looks for them in the notes of all tenants.
CREATE POLICY of_owner_list ON note_vectors FOR SELECT USING (current_setting('mneme.note_owners', true) = 'on');
