"""How two products, releases, code objects or documents differ."""
