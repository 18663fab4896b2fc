"""What a question says: who, when, what kind of answer."""
