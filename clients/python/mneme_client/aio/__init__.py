"""The asyncio client, and the source that `make client` generates the blocking one from."""
