-- Entries of the audit log name what a call was about where ids of memories do not say it: a conversation, an erasure.
-- The functions keep their names, and gateways of the version before call them as they did.

DROP FUNCTION audit(text, text, text, text, text, uuid[], timestamptz);

-- Adds an entry, in the transaction of what it is about.
CREATE FUNCTION audit(
    p_tenant text, p_principal text, p_method text, p_request_id text, p_user text, p_memories uuid[], p_now timestamptz,
    p_target jsonb DEFAULT NULL
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    new_salt bytea := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
    target jsonb := CASE WHEN p_target IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('target', p_target) END;
    new_body text := (jsonb_build_object(
        'time', to_char(p_now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'principal', p_principal,
        'method', p_method, 'request_id', p_request_id, 'user_id', p_user, 'memories', to_jsonb(p_memories)
    ) || target)::text;
BEGIN
    INSERT INTO audit_entries (tenant_id, user_id, salt, body, commitment)
    VALUES (p_tenant, p_user, new_salt, new_body, sha256(new_salt || convert_to(new_body, 'UTF8')));
END $$;

DROP FUNCTION claim_request(text, text, text, text, text, bytea, timestamptz);

-- Claims a request id. Returns the response to an earlier use, 'null' when the caller is the first.
-- A concurrent use of the same id waits here until the first one has committed.
CREATE FUNCTION claim_request(
    p_tenant text, p_principal text, p_method text, p_request_id text, p_user text, p_hash bytea, p_now timestamptz,
    p_target jsonb DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found_hash bytea; found_response jsonb;
BEGIN
    INSERT INTO requests (tenant_id, principal_id, method, request_id, user_id, request_hash, create_time)
    VALUES (p_tenant, p_principal, p_method, p_request_id, p_user, p_hash, p_now)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF p_method NOT IN ('Remember', 'Feedback') THEN  -- these name their memories themselves
            PERFORM audit(p_tenant, p_principal, p_method, p_request_id, p_user, '{}', p_now, p_target);
        END IF;
        RETURN NULL;
    END IF;
    SELECT request_hash, response INTO found_hash, found_response FROM requests
    WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = p_method AND request_id = p_request_id;
    IF found_hash IS DISTINCT FROM p_hash THEN
        RETURN '{"reused": true}'::jsonb;
    END IF;
    RETURN found_response;
END $$;

-- Makes dead letters due again. Besides the entry of the call, which is about no user, each user whose letters they are
-- has one that names the turns, and is blinded with the user.
CREATE OR REPLACE FUNCTION retry_deliveries(
    p_tenant text, p_principal text, p_request_id text, p_hash bytea, p_ids bigint[], p_now timestamptz
) RETURNS jsonb LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE result jsonb; retried bigint := 0; of_user record;
BEGIN
    PERFORM set_config('mneme.tenant', p_tenant, true);
    result := claim_request(p_tenant, p_principal, 'RetryDeadLetters', p_request_id, '', p_hash, p_now);
    IF result IS NOT NULL THEN
        RETURN result;
    END IF;
    FOR of_user IN
        WITH due AS (
            UPDATE deliveries SET given_up_time = NULL, attempts = 0, next_attempt_time = p_now
            WHERE tenant_id = p_tenant AND delivery_id = ANY(p_ids) AND given_up_time IS NOT NULL
            RETURNING user_id, kind, subject_id
        )
        SELECT user_id, count(*) AS letters,
               coalesce(array_agg(DISTINCT subject_id) FILTER (WHERE kind = 1), '{}') AS turns
        FROM due GROUP BY user_id ORDER BY user_id
    LOOP
        retried := retried + of_user.letters;
        PERFORM audit(p_tenant, p_principal, 'RetryDeadLetters', p_request_id, of_user.user_id, of_user.turns, p_now,
                      jsonb_build_object('dead_letters', of_user.letters));
    END LOOP;
    result := jsonb_build_object('retried', retried);
    UPDATE requests SET response = result
    WHERE tenant_id = p_tenant AND principal_id = p_principal AND method = 'RetryDeadLetters'
        AND request_id = p_request_id;
    RETURN result;
END $$;
