"""What the outputs of an action depend on: inputs, parameters, tools and our own code."""
