-- When an episode fades below the threshold: stored by the writes that change it, so that the job reads those alone whose
-- time has come. Null where it was not computed yet; the job does that in bounded steps. The index is empty at first.
ALTER TABLE episodes ADD COLUMN fade_time timestamptz;
CREATE INDEX episodes_by_fade_time ON episodes (tenant_id, user_id, fade_time) WHERE status = 2;

-- Scale and threshold that the times of a user's episodes were computed with; null before they were looked at.
ALTER TABLE owners ADD COLUMN fading_rule text;

-- When importance / (1 + days since the last use / scale) falls below the threshold. At most a million days ahead, which
-- stands for never.
CREATE FUNCTION fade_time_of(
    importance double precision, used_time timestamptz, scale_days double precision, strength_min double precision
)
RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT used_time + make_interval(secs => 86400 * CASE
        WHEN strength_min > 0
        THEN least(1e6, greatest(0, scale_days * (coalesce(importance, 0.5) / strength_min - 1)))
        ELSE 1e6
    END)
$$;

-- A use moves the time by a day at least: one that is at most a day early stays, so that counts are updated in place. The
-- job computes the strength of what it reads, and leaves what is early to its next run.
CREATE FUNCTION kept_fade_time(known timestamptz, computed timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE
AS $$
    SELECT CASE WHEN known <= computed AND known > computed - interval '24 hours' THEN known ELSE computed END
$$;

-- As `mark_active` without the last two, which replicas of the version before call: theirs have no time then.
CREATE FUNCTION mark_active(
    tenant_ids text[], user_ids text[], ids uuid[], piece_counts integer[], model text,
    importances double precision[], summaries text[], scale_days double precision, strength_min double precision
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET status = 2, indexed_model = model, index_attempts = 0, piece_count = done.piece_count,
        importance = coalesce(e.importance, done.importance), summary = done.summary,
        fade_time = fade_time_of(
            coalesce(e.importance, done.importance), greatest(e.index_after, e.last_access_time), scale_days, strength_min
        )
    FROM unnest(tenant_ids, user_ids, ids, piece_counts, importances, summaries)
        AS done (tenant_id, user_id, episode_id, piece_count, importance, summary)
    WHERE e.tenant_id = done.tenant_id AND e.user_id = done.user_id AND e.episode_id = done.episode_id
        AND e.status = 1
$$;

-- As `add_accesses` without the last two, which leaves the time as it was: too early at worst.
CREATE FUNCTION add_accesses(
    tenant_ids text[], user_ids text[], ids uuid[], counts bigint[], times timestamptz[], scale_days double precision,
    strength_min double precision
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = episodic, pg_temp
AS $$
    UPDATE episodes AS e
    SET access_count = e.access_count + used.count,
        last_access_time = GREATEST(e.last_access_time, used.last_time),
        fade_time = CASE WHEN e.status = 2 THEN kept_fade_time(
            e.fade_time,
            fade_time_of(
                e.importance, GREATEST(e.index_after, e.last_access_time, used.last_time), scale_days, strength_min
            )
        ) END
    FROM unnest(tenant_ids, user_ids, ids, counts, times)
        AS used (tenant_id, user_id, episode_id, count, last_time)
    WHERE e.tenant_id = used.tenant_id AND e.user_id = used.user_id AND e.episode_id = used.episode_id
$$;
