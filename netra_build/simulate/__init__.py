"""Functional model of the gfx950 wave64 machine."""
