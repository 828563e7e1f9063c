"""Whether what lies on disk is still what was made: one file, one action, a whole request.

``freshness``    whether an action has to run, and the record of what actions wrote
``input_trace``  what a build has looked at: files, listings, questions, environment, its own code
``finished``     the manifest of a finished request: everything it read and made, with stamps
``up_to_date``   the up-to-date check: one look at the manifest answers before anything is planned

All of them trust a stamp (size, times, inode, device) exactly when it is older than the moment of
the record by a step of the file system's clock, and read the bytes otherwise.

``up_to_date`` runs at every start: it may import ``core.errors``, ``core.stamps`` and
``digests.distributions`` alone, which tests hold. Start with ``Freshness.is_fresh``.
"""
