"""Readers of model descriptions, their frontends and graphs."""
