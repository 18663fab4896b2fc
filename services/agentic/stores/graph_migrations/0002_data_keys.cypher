// Data keys of users, each wrapped by a key-encryption key that is not in this database (docs/privacy.md). None where
// encryption is off. Deleting a node makes what was encrypted with its key unreadable.
CREATE CONSTRAINT note_data_key IF NOT EXISTS
FOR (k:NoteDataKey) REQUIRE (k.tenant_id, k.user_id) IS UNIQUE;
