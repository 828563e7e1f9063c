"""Actions, their graph and whether they have to run: nothing about GPUs in here."""
