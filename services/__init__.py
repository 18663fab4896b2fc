"""Mneme services: one package per tier, the gateway, and what they share."""
