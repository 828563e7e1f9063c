"""``netra completion SHELL``: a script that completes commands, options and names."""

from __future__ import annotations

import argparse

from netra_build.cli.completion_scripts import SCRIPTS, command_words
from netra_build.cli.main import COMMANDS, load_command
from netra_build.cli.places import add_library_root, library_of
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.catalogs.library import Library
from netra_build.formats.records.vocabulary import TARGET

HELP = "print a shell's completion script, or the names that it asks for"
NAMES = ("recipes", "tactics", "profiles")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell, or the kind of names."""
    parser.add_argument("shell", nargs="?", choices=sorted(SCRIPTS), help="shell of the script")
    parser.add_argument("--names", choices=NAMES, help="print these names of the library instead")
    add_library_root(parser)


def run(options: argparse.Namespace) -> int:
    """Print the script, or one name a line."""
    if (options.shell is None) == (options.names is None):
        raise BadInput("name a shell, or --names and a kind", location="netra completion")
    if options.names is not None:
        for name in names_of(library_of(options), options.names):
            print(name)
        return 0
    commands = [command_words(word, load_command(word)) for word in sorted(COMMANDS)]
    print(SCRIPTS[options.shell](commands), end="")
    return 0


def names_of(library: Library, kind: str) -> list[str]:
    """Return the sorted names of one kind that a library holds; broken entries are left out."""
    if kind == "recipes":
        paths = library.disk.files_under(library.root / "recipes", ".yaml")
        return sorted(path.stem for path in paths)
    if kind == "tactics":
        tactics = load_catalog(library, derive_pins=True).tactics
        return sorted(tactic.name.removeprefix(f"{TARGET}.") for tactic in tactics)
    files = library.json_names(f"manifests/{TARGET}/profiles")
    names = [library.read_object(file).get("name") for file in files]
    return sorted(name for name in names if isinstance(name, str))
