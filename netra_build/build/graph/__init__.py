"""Actions and the graph they form, and the product folder that they fill."""
