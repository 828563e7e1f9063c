"""Commands for authors of kernels."""
