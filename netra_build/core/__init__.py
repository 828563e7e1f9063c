"""Errors, JSON, digests, disk and actions: no GPU word in here."""
