"""How two products, releases, code objects or documents differ: for ``netra diff`` and others.

In reading order:

``sequence``
    Aligns two sequences: items common to both, in order, and the stretches between them.
    The work is bounded by a multiple of the length. (``difflib`` takes quadratic time on listings,
    which repeat few instructions many times.)
``documents``
    Two JSON documents, by the names of their objects; two sets of files, by name. A difference
    in hashes alone is distinguished from a change.
``code_objects``
    Two code objects: kernels are paired, and compared by instruction, descriptor and metadata;
    branches count as equal when their targets are.
``engines``
    Two engine directories: documents, contracts, kernels and files; two tactic catalogs.
``package``
    Two releases, with the causes that reach each kernel; and a release compared with its rebuild.

Everything is returned as complete JSON; ``cli/look/diff.py`` and ``diff_text.py`` select
and cut it for readers. Nothing here reads a disk: files come as mappings from name to bytes. The
first difference of two documents, for a message, is ``core.json_difference``.

May import ``core``, ``asm`` (code objects and listings), ``checkasm`` (instructions and branches of
a kernel), ``release`` (what a package is). Start with ``documents.json_changes``, then
``engines.engine_difference``.
"""
