"""Neo4j Community."""
