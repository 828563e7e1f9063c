"""The native tool chain: LLVM's libraries in assembler processes, which stay.

Starting a program costs more than what it does for one kernel. Here a kernel costs a message, and
the result is the same; docs/native.md tells what that rests on. In reading order:

``netra_asm.h``, ``assemble.cpp``, ``link.cpp``, ``disassemble.cpp``, ``shared.cpp``
    The library: LLVM's assembler and lld behind three C functions, and the layout of
    ``llvm-objdump``, which is a program and no library.
``worker``, ``protocol``
    The program of an assembler process, called worker in this folder: it loads the library and
    answers one request at a time, in frames of byte strings on a socket. It imports next to
    nothing, so that it starts in milliseconds.
``workers``
    A few workers for any number of threads: started when first needed, replaced when they end.
``session``
    ``NativeToolchain``: a ``Toolchain`` that asks workers, and the programs for what those decline.
    Whether a built library belongs to a tool chain is decided here.
``proof``
    Whether a fresh library gives what the programs give, asked before it is kept: object, code
    object, listing and report of a probe. Nothing else stands between a library that was compiled
    against other headers and every product of the machine.
``build``
    Builds the library, from LLVM's development files of the system or of unpacked packages.

A worker that crashes, hangs or grows costs one message, and the next request starts another one.
May import ``core``, ``asm.objects`` and ``asm.tools``. Start with ``session``.
"""
