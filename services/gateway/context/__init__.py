"""Text for a prompt within a token budget."""
