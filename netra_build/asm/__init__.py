"""Assembly: its text, the code objects made of it, and the programs that make them.

Nothing here knows of models, tactics or builds. A text comes in as bytes, and so does an object;
whoever wants a file read or written passes a disk. Four folders, in the order in which data passes
through them:

``source/``
    Assembly text: statements, includes, the flat unit in which no file is included, and the
    identities of what a text computes.
``tools/``
    The tool chain: assembler, linker and disassembler of one LLVM, how they are found, bounded and
    told apart, and what they report.
``native/``
    The same tool chain in worker processes that stay, with the same bytes and the same messages.
    It is optional; docs/native.md tells how it is built and what it rests on.
``objects/``
    Code objects: ELF, kernel descriptors, metadata notes, listings; and objects written anew with
    other names or without what no loader reads.

``tools`` and ``native`` know ``objects`` for the shape of ELF files; ``source`` knows nobody.
All four may import ``core`` and nothing above it.

Where to start: ``source/statement.py`` for what a line can be, ``tools/toolchain.py`` for the five
things that a tool chain does, ``objects/code_object.py`` for what comes out.
"""
