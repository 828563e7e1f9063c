"""Assembly text: read, verified, followed through its includes, and written as one flat unit.

In reading order:

``statement``
    The lines of a text, comments and joined lines, and what one statement is: kind, name and
    canonical text.
``lexer``
    A whole text as statements, in one pass, when the macros of other files are known. Statements as
    blocks: each macro's definition is one, macros that nothing reaches are found by the words of
    the rest, and units that differ in names only give one shared text.
``include_rules``
    What is certain from the text alone: includes and include guards. Everything that could read a
    file in another way is refused.
``source_file``
    One file with all that is made of it, each made once and held as long as there is room.
``includes``
    The walk over files that include each other, and the published format's own reading of them,
    by line patterns that see less than the assembler does.
``closure``
    Every file that a template reaches; the identities made of them; and the flat unit, in which
    every include is replaced by its text, without macros that nothing reaches.
``line_table``
    The same files with the places of their instructions in them, for debuggers.

The digests of a closure, the identity of what it computes and the bytes of the flat unit are part
of the product: a change of any is a change of every engine. Refusals are ``BadInput`` at the
author's file and line. May import ``core``.
"""
