"""Functional model of the gfx950 wave64 machine: run a linked code object on numpy arrays.

Agreement with silicon is unproven: the model idealises transcendentals (correctly rounded) and
MFMA (exact dot product, one rounding), and knows no timing. Start at ``launch``.
"""
