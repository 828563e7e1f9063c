"""What each instruction does: one table entry per mnemonic, one module per class."""
