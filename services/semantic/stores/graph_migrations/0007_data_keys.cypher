// Data keys of users, each wrapped by a key-encryption key that is not in this database (docs/privacy.md). None where
// encryption is off. Deleting a node makes what was encrypted with its key unreadable.
CREATE CONSTRAINT mneme_semantic_data_key IF NOT EXISTS
FOR (k:MnemeSemanticDataKey) REQUIRE (k.tenant_id, k.user_id) IS UNIQUE;
// The lock of those who write code of a user, where encryption is on: whoever destroys the key waits for them.
CREATE CONSTRAINT mneme_code_owner_key IF NOT EXISTS
FOR (o:MnemeCodeOwner) REQUIRE (o.tenant_id, o.user_id) IS UNIQUE;
