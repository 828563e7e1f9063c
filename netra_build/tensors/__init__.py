"""Large tensors: files of them, byte ranges, and their layouts."""
