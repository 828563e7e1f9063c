"""What a product is and what is proven of it, as one HTML page."""
