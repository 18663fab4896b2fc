"""The gateway: the one door for agents; writes once, reads from every tier."""
