-- A fact's vector of another embedding model, beside the one that every fact has: while the model is changed, searches find
-- a fact by either. Empty name: there is none.
ALTER TABLE facts ADD COLUMN second_model text NOT NULL DEFAULT '', ADD COLUMN second_embedding vector;
-- Inline as long as the row fits in a page.
ALTER TABLE facts ALTER COLUMN second_embedding SET STORAGE MAIN;

-- Facts that lack a vector of a model are found in this index, however many facts there are.
CREATE INDEX facts_by_models ON facts (tenant_id, user_id, embedding_model, second_model);
DROP INDEX facts_by_model;

-- A fact that gets another vector says something else: its second one is of the former words, whoever writes it.
CREATE FUNCTION drop_second_vector() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.second_model := '';
    NEW.second_embedding := NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER facts_drop_second_vector BEFORE UPDATE ON facts FOR EACH ROW
WHEN (
    OLD.second_model <> '' AND NEW.second_model = OLD.second_model
    AND (NEW.embedding_model <> OLD.embedding_model OR NEW.embedding <> OLD.embedding)
)
EXECUTE FUNCTION drop_second_vector();
