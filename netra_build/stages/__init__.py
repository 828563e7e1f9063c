"""One file per stage: named bytes and parameters in, named bytes out."""
