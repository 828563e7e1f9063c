"""The files that a new tactic starts from."""
