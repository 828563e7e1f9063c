"""Derive again what a product claims, and name the first lie."""
