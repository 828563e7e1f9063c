"""Commands that build."""
