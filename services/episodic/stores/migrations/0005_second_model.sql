-- Notes episodes as indexed by a model whose index was filled beside another one: active ones at these places, of which
-- the index holds as many pieces as it should.
CREATE FUNCTION adopt_indexed(
    model text, tenant_ids text[], user_ids text[], keys bytea[], piece_counts integer[]
)
RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    WITH adopted AS (
        UPDATE episodes AS e SET indexed_model = model
        FROM unnest(tenant_ids, user_ids, keys, piece_counts) AS held (tenant_id, user_id, episode_key, piece_count)
        WHERE e.tenant_id = held.tenant_id AND e.user_id = held.user_id AND e.episode_key = held.episode_key
            AND e.status = 2 AND e.piece_count = held.piece_count AND e.indexed_model IS DISTINCT FROM model
        RETURNING 1
    )
    SELECT count(*) FROM adopted
$$;
