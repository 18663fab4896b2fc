-- Token vectors lie in the rows themselves: up to 8 KB, two turns on a page. Before, whatever was above 2 KB went out to
-- another table in pieces of 2 KB, which have an index of their own: so a question for 480 turns, scattered over all of a
-- user's, took three times as many pages, and each when its turn came. Rows that exist stay as they are until they are
-- written again; they are read by the same statements.
DO $$
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 8160)', 'token_vectors_' || n);
    END LOOP;
END $$;

-- By a bitmap of the pages, since the server then asks the disk for many of them at once; an index scan, which it takes
-- for the cheaper way where pages are in memory, waits for one after the other. It runs as who calls it: the policies
-- of the table decide what is seen.
CREATE FUNCTION token_vectors_of(of_tenant text, of_user text, ids uuid[], of_model text)
RETURNS TABLE (episode_id uuid, tokens bytea)
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = episodic, pg_temp SET enable_indexscan = off SET enable_seqscan = off
AS $$
BEGIN
    RETURN QUERY SELECT e.episode_id, e.tokens FROM token_vectors AS e
    WHERE e.tenant_id = $1 AND e.user_id = $2 AND e.episode_id = ANY($3) AND e.model = $4;
END
$$;
