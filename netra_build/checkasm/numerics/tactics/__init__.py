"""Numeric contracts of one file each: ``NAME.py`` states tactic ``NAME`` and has its ``ENTRY``.

A file that lies here is registered; nothing else has to name it.
"""

MEMBERS_ARE_REACHED = True
