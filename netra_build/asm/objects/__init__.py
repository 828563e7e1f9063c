"""Code objects: reading, rewriting, sealing, listing."""
