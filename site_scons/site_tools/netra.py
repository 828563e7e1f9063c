"""Makes the tool of the package known to SCons when it runs in this repository."""

from netra_build.scons.netra import exists, generate

__all__ = ["exists", "generate"]
