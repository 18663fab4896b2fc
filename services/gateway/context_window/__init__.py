"""Context windows at the gateway: pruning through the journal, and prompts made of a window."""
