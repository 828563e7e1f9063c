"""Commands about release packages."""
