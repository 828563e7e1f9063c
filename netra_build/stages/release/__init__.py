"""Stages that make a release package."""
