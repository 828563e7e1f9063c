"""What a product is, how two differ, and whether one is what it claims to be."""
