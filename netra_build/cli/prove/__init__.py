"""Commands that check, run and mutate kernels."""
