"""The lowest layer, which all others import: nothing here knows of GPUs, formats or builds.

In reading order:

``own_code``         loads all modules of the package from the bytes that their digests are of
``errors``           the errors that reach a user, their exit codes, the nearest known name
``canonical_json``   canonical JSON out, strict and bounded JSON in
``json_difference``  the first difference of two documents, as a JSON pointer
``digests``          SHA-256 and BLAKE3 of bytes
``stamps``           stamps of files and folders, and when an equal stamp means an unchanged file
``disk``             bounded reads, confined paths, whole-file writes
``folders``          folders as mappings of names to bytes; folders replaced atomically, or locked
``streams``          files too large to hold, and scratch space
``processes``        waiting for child processes; a pause of the garbage collector
``variables``        numbers in variables
``texts``            tables and durations for terminals; templates beside the modules that use them
``terminal``         one line of a terminal that is drawn again and again

It imports blake3 and, late, rich and jinja2. ``errors`` and ``stamps`` are loaded by the up-to-date
check at every start, so they import next to nothing. Start with ``errors``, then ``disk``.
"""
