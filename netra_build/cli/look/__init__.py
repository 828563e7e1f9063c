"""Commands that show what there is."""
