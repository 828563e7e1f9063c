"""Records of every format and the strict readers that make them."""
