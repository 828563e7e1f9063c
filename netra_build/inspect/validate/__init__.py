"""Validation: whether the statements of an engine, of code objects or of a package are true.

Everything that can be derived is derived again and compared; the first difference is named by
file and pointer. In reading order:

``engine``         the entry for engine directories: ``verify_engine`` names the first fault
``engine_folder``  the files of an engine directory: allowed ones, and sources of other engines
``plan``           the engine planned again from its graph and the library, every document compared
``built``          the code objects of an engine, the progress of its validation plan, its seal
``objects``        the files about a code object: views, listing, reports, golden counterpart
``result``         the code objects of a recipe, with ``build-result.json``
``package``        a release package: signature, digests, the product in it, every claim

Documents are compared with the output of ``plan``, reports and records with that of the stages that
write them: a rule is written here only where nothing derives it. Without a tool chain listings and
golden counterparts are not verified, and their names are returned.

May import everything up to ``plan``, and ``release`` for packages. The commands ``validate``,
``verify`` and ``build`` use it.
"""
