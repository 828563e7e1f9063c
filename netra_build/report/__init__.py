"""The page that shows an engine to people: facts read from its files, then HTML made of them."""
