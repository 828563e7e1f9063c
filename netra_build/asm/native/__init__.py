"""The in-process part of the tool chain: LLVM's libraries in worker processes that stay."""
