"""Validation: whether an engine, a recipe's code objects or a package is what it claims to be.

Everything that can be derived is derived again and compared; the first difference is named by
file and pointer. In reading order:

``engine``         the entry for engine directories: ``verify_engine`` names the first lie
``engine_folder``  the files of an engine directory: which it may hold, which are left of others
``plan``           the engine planned again from its graph and the library, every document compared
``built``          the code objects of an engine, how far its validation plan is, its seal
``objects``        what any product says of a code object: views, listing, reports, golden side
``result``         the code objects of a recipe, with ``build-result.json``
``package``        a release package: signature, digests, the product in it, every claim

Documents are held against ``plan``, reports and records against the stages that write them: a rule
is written here only where nothing derives it. Without a tool chain listings and golden sides are
taken at their word, and their names are returned.

May import everything up to ``plan``, and ``release`` for packages. The commands ``validate``,
``verify`` and ``build`` ask here.
"""
