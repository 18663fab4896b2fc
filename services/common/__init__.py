"""Code that every service shares; imports no service."""
