"""Maintenance jobs of the episodic tier, one file each."""
