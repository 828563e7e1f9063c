"""Whether a kernel is right: functional model, static checks, numeric contracts, mutation."""
