"""How every action was run last, in memory and on disk."""
