"""Whether what lies on disk is still what was made: one file, one action, a whole request."""
