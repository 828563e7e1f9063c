"""Mutation: seed small faults into a kernel and see which check catches each of them."""
