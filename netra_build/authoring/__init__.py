"""The files that a new tactic starts from, for ``netra new-tactic``.

``skeleton``
    Plans a tactic (its names, its kernargs with offsets and registers) and gives its files: the
    template, the golden source, the numeric statement and the test are filled in from the texts in
    ``templates/``; the ABI record and the catalog entry are made as JSON.
``templates/``
    The four texts, with the words and loops of Jinja. The kernel multiplies every element of an
    array by a factor; the author replaces the mathematics.

A tactic that is laid out builds and passes its checks before anything in it is edited. Which
kernel is laid out can be seen in ``templates/kernel.s.tmpl``; what may be asked for, and what is
refused, in ``plan_skeleton``. Files are written by ``cli/author/tactics.py``, all or none,
after the golden source was assembled.

May import ``core`` and ``formats``; nothing here touches an assembler or a library's files.
"""
