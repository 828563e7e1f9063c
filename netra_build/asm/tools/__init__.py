"""The tool chain: programs of one LLVM that assemble, link and disassemble for gfx950.

In reading order:

``bounds``
    The time and the memory that one run may take, and what is said of one that takes more.
``programs``
    How a program is run: in a folder of its own, with a fixed environment, bounded in time, memory
    and output; and what assemblers and linkers report. The only one here that starts a process.
``tool_identity``
    Who a program is: its version, and the digest of its bytes and of all libraries it loads, which
    are found by reading ELF files, never by running. What was found out is kept in a memory as long
    as no file changes.
``round_trip``
    Which instructions of a listing assemble back to their own words; the others get a remark.
``toolchain``
    The programs together: ``assemble``, ``assemble_tree``, ``link``, ``disassemble``, ``identity``.
    ``find_toolchain`` looks for them in the documented order and takes the first that assembles an
    instruction of gfx950.

A refused source is ``AssemblyFailed`` at the author's file and line, with the report as it was
printed. A program that is missing, crashes, hangs or exhausts its bounds is ``ToolchainFailed``.
``native.session`` has the same interface: there a worker process does what a program does here.

May import ``core`` and ``asm.objects.elf``. Start with ``toolchain``.
"""
