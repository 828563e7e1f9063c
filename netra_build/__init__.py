"""Netra Build: content-hashed, provably equivalent builds of hand-written gfx950 kernels."""

__version__ = "0.1.0"
