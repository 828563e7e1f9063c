"""Exact arithmetic on arrays: rounding, fused multiply-add, narrow floats, transcendentals."""
