"""Why actions ran, what would run now, and how far a build is."""
