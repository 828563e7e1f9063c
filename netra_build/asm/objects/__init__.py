"""Code objects: ELF files for the GPU, read as records and written anew.

In reading order:

``elf``
    ELF files (64-bit, little-endian) as headers, names, sections and symbols. The only reader of
    them, for all that reads or writes an object; what a damaged file can claim is bounded here.
``descriptor``
    The 64 bytes that tell the hardware how to start a kernel, bit by bit.
``metadata``
    The note that lists kernels, arguments and sizes, and the resources that records name.
``code_object``
    All of it as one record: sections, symbols, and each kernel with descriptor, code and metadata.
``listings``
    What ``llvm-objdump --disassemble`` prints, as records; what ``llvm-readobj --notes`` prints,
    without that program; and where two objects differ, as lines.
``rewrite``
    Linked objects as ``llvm-objcopy`` writes them: stripped of what no loader reads, or with string
    tables in its order. The layout of what is written stands here.
``rename``
    An assembled object with its kernels under other names, as if assembled from the other source.

What is written equals what LLVM's programs write, byte by byte; tests compare both. Refusals are
``BadInput`` at the location that the caller gives: one line for every kind of damage, never a
traceback. May import ``core``.
"""
