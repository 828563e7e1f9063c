"""Assembly text, the tool chain and code objects."""
