"""Planning: tactics, layouts, memory, graph recipe, explanations."""
