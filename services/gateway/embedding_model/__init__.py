"""Which embedding model serves, and the cut-over to another one."""
