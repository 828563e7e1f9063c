"""Assembly text: lexer, closures, flat units."""
