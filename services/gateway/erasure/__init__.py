"""Erasing, forgetting and correcting: what takes memories away, and keeps them away."""
