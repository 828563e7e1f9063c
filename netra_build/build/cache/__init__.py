"""What actions made, kept by action digest for all checkouts of a user."""
