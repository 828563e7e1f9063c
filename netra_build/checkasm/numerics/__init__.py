"""One numpy statement per tactic of what the right output is."""
