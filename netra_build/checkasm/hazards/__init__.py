"""Static checks of code objects."""
