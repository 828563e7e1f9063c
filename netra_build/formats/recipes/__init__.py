"""Readers of recipes."""
