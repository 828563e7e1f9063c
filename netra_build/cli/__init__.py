"""The netra command line, one file per command."""
