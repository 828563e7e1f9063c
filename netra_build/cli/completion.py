"""``netra completion SHELL``: a script that completes commands, options and names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from netra_build.cli.main import COMMANDS, load_command
from netra_build.cli.options import LIBRARY, Command, command, option
from netra_build.cli.places import library_of
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.catalog import load_catalog
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import TARGET

SHELLS = ("bash", "fish", "zsh")
NAMES = ("recipes", "tactics", "profiles")
NAMES_BY_DEST = {"tactic": "tactics", "profile": "profiles", "recipe": "recipes"}
FOLDER_DESTS = ("library_root", "golden_artifact_root")

PREAMBLE = {
    "bash": "\n".join(
        f'_netra_{kind}() {{\n    compgen -W "$("${{COMP_WORDS[0]}}" completion --names {kind}'
        ' 2>/dev/null)" -- "$1"\n}'
        for kind in NAMES
    ),
    "zsh": """\
_netra_names() {
  local -a found
  found=(${(f)"$(_call_program names ${_comp_command1:-netra} completion --names $1 2>/dev/null)"})
  compadd -a found
}
""",
    "fish": """\
function __netra_names
    set -l program (commandline -opc)[1]
    $program completion --names $argv[1] 2>/dev/null
end
""",
}
BASH_END = """
# The shell hands over --option=value as three words.
_netra() {
    local word words=() current=$COMP_CWORD
    for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
        if [[ $word == = ]]; then ((current--)); else words+=("$word"); fi
    done
    word=${COMP_WORDS[COMP_CWORD]}
    [[ $word == = ]] && word=
    local COMP_WORDS=("${words[@]}" "$word") COMP_CWORD=$current
    _shtab_netra
}

complete -F _netra netra
"""


@command(
    "print a shell's completion script, or the names that it asks for",
    option("shell", nargs="?", choices=SHELLS, help="shell of the script"),
    option("--names", choices=NAMES, help="print these names of the library instead"),
    LIBRARY,
)
def completion_command(options: argparse.Namespace) -> int:
    """Print the script, or one name a line."""
    if (options.shell is None) == (options.names is None):
        raise BadInput("name a shell, or --names and a kind", location="netra completion")
    if options.names is not None:
        for name in names_of(library_of(options), options.names):
            print(name)
        return 0
    commands = {word: load_command(word) for word in sorted(COMMANDS)}
    print(completion_script(options.shell, commands), end="")
    return 0


def completion_script(shell: str, commands: dict[str, Command]) -> str:
    """Return the completion script of some commands."""
    import shtab

    parser = argparse.ArgumentParser(prog="netra")
    words = parser.add_subparsers()
    for word, one in commands.items():
        declared = words.add_parser(word, help=one.help, description=one.help)
        one.add_arguments(declared)
        for action in declared._actions:
            if action.nargs != 0 and action.choices is None:
                action.complete = _candidates(action)  # type: ignore[attr-defined]
    made = shtab.complete(parser, shell, preamble=PREAMBLE[shell])
    return made + (BASH_END if shell == "bash" else "")


def _candidates(action: argparse.Action) -> Mapping[str, object]:
    """Return the possible values of one option or positional, by shell."""
    import shtab

    kind = NAMES_BY_DEST.get("recipe" if action.dest == "engine" else action.dest)
    if kind is not None and action.type is not Path:
        return {
            "bash": f"_netra_{kind}",
            # The blank in front keeps the shell from putting arguments before ours.
            "zsh": f" _netra_names {kind}",
            "fish": f"(__netra_names {kind})",
        }
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar == "DIR" or action.dest in FOLDER_DESTS:
        return shtab.DIRECTORY
    is_file = action.type is Path or metavar.startswith(("FILE", "HSACO"))
    return shtab.FILE if is_file else {}


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
