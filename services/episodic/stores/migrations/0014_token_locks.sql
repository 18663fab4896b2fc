-- An episode that another transaction deletes just then is waited for: it has no token vectors afterwards, and this
-- statement does not fail. As in 0002 otherwise.
CREATE OR REPLACE FUNCTION put_token_vectors(tenant_ids text[], user_ids text[], ids uuid[], models text[], packed bytea[])
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    INSERT INTO token_vectors AS t (tenant_id, user_id, episode_id, model, tokens)
    SELECT e.tenant_id, e.user_id, e.episode_id, new.model, new.tokens
    FROM unnest(tenant_ids, user_ids, ids, models, packed) AS new (tenant_id, user_id, episode_id, model, tokens)
    JOIN episodes AS e ON e.tenant_id = new.tenant_id AND e.user_id = new.user_id AND e.episode_id = new.episode_id
    FOR KEY SHARE OF e
    ON CONFLICT (tenant_id, user_id, episode_id) DO UPDATE SET model = EXCLUDED.model, tokens = EXCLUDED.tokens
    WHERE t.model <> EXCLUDED.model OR t.tokens <> EXCLUDED.tokens
$$;
