"""The tool chain: the only place that starts programs."""
