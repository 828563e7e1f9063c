"""Processes that work for the building one."""
