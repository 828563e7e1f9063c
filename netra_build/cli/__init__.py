"""The ``netra`` command line.

A command is a function of the parsed options that returns the exit code; ``@command`` states its
help and its options. ``main`` has the table of commands and imports one when it is used; errors are
raised, and printed by ``main`` alone, with the exit code of their kind.

In reading order:

``main``
    The table of commands, the parsing of a command line, errors to exit codes.
``options``
    What a command is, and options and messages that several share. It imports little, since the
    up-to-date check of ``netra build`` runs before the rest of the package is imported.
``places``
    The library and the tool chain that those options lead to.
``build/``
    Commands that make something: ``build``, ``rebuild``, ``compile``, ``recipe``, ``validate``,
    ``repack``.
``look/``
    Commands that show what exists: ``inspect``, ``explain``, ``list-tactics``, ``diff``,
    ``graph``, ``why``, ``report``.
``prove/``
    Commands that verify something: ``check``, ``simulate``, ``mutate``, ``golden``,
    ``evidence``, ``promote``, ``verify``, ``reproduce``.
``author/``
    Commands for kernel authors: ``new-tactic``, ``pin``, ``kernels``.
``store``, ``completion``
    Maintenance of the store, and completion scripts for shells.

A command parses, calls one function of the layers below and prints. The environment and the
working folder are read here and nowhere else in the library. May import everything but ``scons``.
"""
