"""Commands that verify something, each with exit code 1 when the check fails.

``check``
    Static checks of a code object: waits, hazards, registers, kernargs; and ``simulate``, one
    launch in the functional model, with every dynamic check on.
``mutate``
    Small faults seeded into a kernel, and which check catches each.
``golden_accept``
    The digests of a golden source after it was edited by hand.
``evidence``
    ``evidence`` and ``promote``: evidence about kernels, and the maturity that it allows.
``verify``
    A release: signature, every digest and every claim, and the page made again.
``reproduce``
    A release made again from its sources, compared byte by byte.

What needs numpy (``simulate``, ``mutate``) imports it when it runs, and says what to install when
it is missing. The checks themselves are in ``checkasm/`` and ``inspect/validate/``. Start with
``check``.
"""
