"""Carry out one action: decide, restore or run it, and keep account of it."""
