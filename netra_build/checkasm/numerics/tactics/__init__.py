"""Statements of the tactics, by family: each is declared by a module here.

The last statement of a module is ``TACTICS = {"TACTIC": Entry(...), ...}``; a module that states
one tactic may be called like it and end with ``ENTRY = Entry(...)`` instead. Nothing else names a
tactic. Each module holds what its tactics compute, in the rounding order of their contracts, and
the launches that test it; what several families use is in the folder above.
"""

MEMBERS_ARE_REACHED = True
