"""The SCons tool ``netra``: ``Environment(tools=["netra"], toolpath=[...])``.

Adds to it ``NetraEngine``, ``NetraRecipe``, ``NetraTactic``, ``NetraReport``, ``NetraRelease``,
and for all tactics of a library ``NetraEquivalence``, ``NetraChecks`` and ``NetraNumerics``.
The tool sets no global option; its environment's decider compares contents.
"""

from __future__ import annotations

from os import environ
from typing import Any

from netra_build.build.cache.store import DEFAULT_MAX_BYTES
from netra_build.core.confined import prepare
from netra_build.core.processes import end_if_a_thread_fails
from netra_build.scons.context import BuildContext
from netra_build.scons.methods import BUILDERS
from netra_build.scons.nodes import content_changed


def generate(env: Any, **options: Any) -> None:
    """Add the builders to ``env``; options ``library_root``, ``toolchain`` and ``store``.

    Without ``store`` (or ``NETRA_STORE``), the folder of a store, none is used.
    """
    prepare(environ)
    env.SetDefault(
        NETRA_LIBRARY_ROOT=options.get("library_root", "."),
        NETRA_BUILD="build",
        NETRA_TOOLCHAIN=options.get("toolchain", ""),
        NETRA_ROCM_PATH="",
        NETRA_STORE=options.get("store", ""),
        NETRA_STORE_BYTES=DEFAULT_MAX_BYTES,
        NETRA_CONTEXT=BuildContext(),
        NETRA_VERBOSE=False,
    )
    end_if_a_thread_fails("SCons")
    env.Decider(content_changed)
    for name, method in BUILDERS.items():
        env.AddMethod(method, name)


def exists(env: Any) -> bool:
    """The tool needs nothing but this package; the tool chain is looked for when it is used."""
    return True
