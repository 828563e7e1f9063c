"""Commands that verify something, each with exit code 1 when the check fails.

``check``
    Static checks of a code object: waits, hazards, registers, kernargs; and ``simulate``, one
    launch in the functional model, with every dynamic check on.
``mutate``
    Small faults seeded into a kernel, and which check catches each.
``golden``
    ``golden``: the digests of a golden source after it was edited by hand; ``evidence`` and
    ``promote``: evidence about kernels, and the maturity that it allows.
``release``
    ``verify``: signature, every digest and every claim of a release, and the page made again;
    ``reproduce``: the release made again from its sources, compared byte by byte.

What needs numpy (``simulate``, ``mutate``) imports it when it runs, and says what to install when
it is missing. The checks themselves are in ``checkasm/`` and ``inspect/validate/``. Start with
``check``.
"""
