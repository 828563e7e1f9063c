"""Readers of manifests, models, profiles, recipes and the library root."""
