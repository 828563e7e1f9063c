"""Stages that write documents of a product."""
