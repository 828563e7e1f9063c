"""Commands for kernel authors; all work in a checkout of the project.

``tactics``
    ``new-tactic`` lays out a tactic that builds and passes its checks, from the texts of
    ``authoring/``; ``pin`` rewrites the template and closure digests in the tactic catalogs.
``kernels_table`` with ``kernels.md``
    The static resource table of every kernel: builds all in a temporary folder, reads the code
    objects and fills in the text. ``docs/kernels.md`` is its output.
``kernel_minimums``
    How many matrix instructions the shape of each tactic needs at least, as formulas, and how
    many its kernel runs. A new tactic with matrix instructions gets its formulas here.

Files are written whole, all or none. Start with ``pin``.
"""
