"""What a release was made from: the request, sources by digest, tools, libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec

from netra_build import __version__
from netra_build.build.digests.action_digest import code_reach, python_version
from netra_build.build.graph.actions import Inputs, Parameters
from netra_build.core.canonical_json import Json, canonical_bytes, stable_hash
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import ToolchainFailed
from netra_build.release.kernels import toolchain_of
from netra_build.release.layout import FOLDER_BY_KIND

DEFAULT_BUILDER = "urn:netra-build:builder:self"
"""Builder URI of a recipe that names none."""

SOURCE_PREFIX, OBJECT_PREFIX = "source:", "object:"
TOOL_ROLES = ("assembler", "linker", "disassembler")
PREFIXES = (SOURCE_PREFIX, OBJECT_PREFIX)
"""Prefixes of the roles of inputs that determine a release and are no part of it."""

LIBRARIES = ("cryptography", "cyclonedx", "packageurl", "securesystemslib", "zstandard")
"""Packages of the extra ``release``, by the names that are imported."""

KIND_BY_FOLDER = {
    "golden/": "golden source",
    "statements/": "statement",
    "kernels/": "template",
    "manifests/": "manifest",
    "recipes/": "recipe",
    "schemas/": "schema",
    "evidence/": "evidence",
}


@dataclass(frozen=True)
class Asked:
    """The request for a release. ``recipe`` is a file name inside the library root.

    ``kind`` is a key of ``FOLDER_BY_KIND``; ``builder`` a URI that stays the same.
    """

    name: str
    version: str
    kind: str
    recipe: str
    profile: str | None = None
    builder: str = DEFAULT_BUILDER

    @property
    def folder(self) -> str:
        """The folder of the package that holds the product, with its slash."""
        return FOLDER_BY_KIND[self.kind]


@dataclass(frozen=True)
class Origin:
    """Everything that determined a product.

    ``sources``: SHA-256 by library name of every file that was read; ``objects``: the same of
    code objects that a user supplied; ``toolchain`` as the tool chain identifies itself;
    ``environment``: ``python``, ``packages`` (version by name), ``netra_build`` (``version`` and
    ``sha256`` over its modules).
    """

    asked: Asked
    sources: Mapping[str, str]
    toolchain: Mapping[str, str]
    environment: Mapping[str, Json]
    objects: Mapping[str, str] = field(default_factory=dict)

    @property
    def tools(self) -> list[tuple[str, str, str, str]]:
        """Role, name, version and digest of each tool."""
        chain = self.toolchain
        return [
            (role, chain[role], chain[f"{role}_version"], chain[f"{role}_digest"])
            for role in TOOL_ROLES
            if role in chain
        ]

    @property
    def closure_sha256(self) -> str:
        """SHA-256 over names and digests of all sources and supplied objects."""
        return stable_hash({"sources": self.sources, "objects": self.objects})


def product_files(asked: Asked, content: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the product by their names inside it, from those of the package."""
    folder = asked.folder
    return {n.removeprefix(folder): data for n, data in content.items() if n.startswith(folder)}


def kind_of_source(name: str, other: str) -> str:
    """Return the kind of a library file by its folder, ``other`` for any other folder."""
    return next((kind for start, kind in KIND_BY_FOLDER.items() if name.startswith(start)), other)


def content_of(inputs: Inputs) -> dict[str, bytes]:
    """Return the files of the package among the inputs of a stage; the others have a prefix."""
    return {name: data for name, data in inputs.items() if not name.startswith(PREFIXES)}


def origin_of(inputs: Inputs, parameters: Parameters) -> Origin:
    """Return the origin that the inputs and parameters of a stage describe.

    Inputs: files of the package by name, ``source:NAME`` and ``object:NAME``. Parameters:
    ``asked`` (the fields of ``Asked``) and ``environment``.
    """
    asked = Asked(**parameters["asked"])
    content = content_of(inputs)
    product = product_files(asked, content)
    return Origin(
        asked=asked,
        sources=_digests(inputs, SOURCE_PREFIX),
        objects=_digests(inputs, OBJECT_PREFIX),
        toolchain=toolchain_of(asked.kind, product, asked.folder),
        environment=parameters["environment"],
    )


def _digests(inputs: Inputs, prefix: str) -> dict[str, str]:
    return {
        role.removeprefix(prefix): sha256_hex(data)
        for role, data in inputs.items()
        if role.startswith(prefix)
    }


def environment_of(module: str) -> dict[str, Json]:
    """Return Python and the libraries of a build: those that ``module`` reaches by import.

    Raises ``ToolchainFailed`` when one of them is not installed.
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


def require_libraries() -> None:
    """Raise ``ToolchainFailed`` with what to install if anything is missing; import nothing."""
    for name in LIBRARIES:
        if find_spec(name) is None:
            raise _missing(name)


@contextmanager
def needed_libraries() -> Iterator[None]:
    """Context for imports of the extra ``release``: say what to install when one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise _missing(str(error.name)) from None


def _missing(name: str) -> ToolchainFailed:
    return ToolchainFailed(
        f'releases need the Python package "{name}"', hint="install netra-build[release]"
    )
