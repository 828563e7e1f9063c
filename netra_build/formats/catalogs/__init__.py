"""Readers of a kernel library: catalogs, closures, profiles, ABIs, golden sources, evidence."""
