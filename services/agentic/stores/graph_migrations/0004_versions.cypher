// What notes were before they changed: (:Note)-[:WAS]->(:NoteVersion {note_id, end_microseconds, status, said, was_wrong,
// derived_from, source_note_ids, question_id}). Each is a state that has ended; `said` is JSON, and an empty object where
// the note said what it said in the state after this one.
CREATE CONSTRAINT note_version_key IF NOT EXISTS
FOR (v:NoteVersion) REQUIRE (v.tenant_id, v.user_id, v.note_id, v.end_microseconds) IS UNIQUE;
