"""Netra Build: content-hashed, provably equivalent builds of hand-written gfx950 kernels."""

from netra_build.core import own_code as own_code

__version__ = "0.1.0"
