"""Carry out one action: decide, restore or run it, and log what came of it."""
