"""Proves by a raw scan that an erased user is gone from every byte of every file of every engine."""
