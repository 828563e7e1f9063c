"""Frozen records of every format; no input or output."""
