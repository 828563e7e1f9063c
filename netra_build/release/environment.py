"""The Python side of an origin: which code of ours ran, on which Python, with which libraries."""

from __future__ import annotations

from netra_build import __version__
from netra_build.build.digests.code_digest import code_reach, python_version
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex


def environment_of(module: str) -> dict[str, Json]:
    """Return what a build whose code ``module`` reaches depends on beside sources and tools.

    Raises ``ToolchainFailed`` when a library that it reaches is not installed.
    """
    reach = code_reach(module)
    return {
        "python": python_version(),
        "packages": dict(reach.distributions),
        "netra_build": {
            "version": __version__,
            "sha256": sha256_hex(canonical_bytes(dict(reach.modules))),
        },
    }
