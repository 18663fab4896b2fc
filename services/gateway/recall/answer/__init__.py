"""What becomes of the ranked candidates: contradictions, size, streaming."""
