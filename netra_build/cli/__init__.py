"""The ``netra`` command line.

Every command is its help, ``add_arguments(parser)`` and ``run(options)``, which returns the exit
code. A module with one command has these at its top, one with several a ``Command`` for each.
``main`` knows the words and imports a command when it is asked for; errors are raised, and printed
by ``main`` alone, with the exit code that belongs to their kind.

In reading order:

``main``
    The words, the parsing of a command line, errors to exit codes.
``options``
    The options that several commands share, and what they say alike. Nothing heavy is loaded: the
    up-to-date check of ``netra build`` answers before the rest of the package is imported.
``places``
    The library and the tool chain that those options lead to.
``build/``
    Commands that make something: ``build``, ``rebuild``, ``compile``, ``recipe``, ``validate``,
    ``repack``.
``look/``
    Commands that show what is there: ``inspect``, ``explain``, ``list-tactics``, ``diff``,
    ``graph``, ``why``, ``report``.
``prove/``
    Commands that say whether something is right: ``check``, ``simulate``, ``mutate``, ``golden``,
    ``evidence``, ``promote``, ``verify``, ``reproduce``.
``author/``
    Commands for who writes kernels: ``new-tactic``, ``pin``, ``kernels``.
``store``, ``completion``
    Care of the store, and completion scripts for shells.

A command parses, calls one function of the layers below and prints. The environment and the
working folder are read here and nowhere else in the library. May import everything but ``scons``.
"""
