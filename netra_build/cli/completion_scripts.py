"""Completion scripts for bash, zsh and fish, made from the options that the commands declare."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

FILES, FOLDERS, NOTHING = "files", "folders", "nothing"
NAMES_BY_DEST = MappingProxyType({"tactic": "tactics", "profile": "profiles", "recipe": "recipes"})


class Declared(Protocol):
    """A command module, as far as completion needs it."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...


@dataclass(frozen=True)
class Source:
    """What may stand somewhere: fixed words, or files, folders or names of the library."""

    words: tuple[str, ...] = ()
    kind: str = NOTHING
    """``files``, ``folders``, ``nothing``, or the kind of names to ask the program for."""


@dataclass(frozen=True)
class Option:
    """One option with all its spellings; ``value`` is None when it takes none."""

    spellings: tuple[str, ...]
    help: str
    value: Source | None


@dataclass(frozen=True)
class CommandWords:
    """One command: its word, its help, its options and what stands without an option."""

    word: str
    help: str
    options: tuple[Option, ...]
    positionals: tuple[Source, ...]


def command_words(word: str, command: Declared) -> CommandWords:
    """Return what one command declares."""
    parser = argparse.ArgumentParser(prog=f"netra {word}", allow_abbrev=False)
    command.add_arguments(parser)
    options = [
        Option(
            tuple(action.option_strings),
            action.help or "",
            None if action.nargs == 0 else _source(action),
        )
        for action in parser._actions
        if action.option_strings
    ]
    positionals = [_source(action) for action in parser._actions if not action.option_strings]
    return CommandWords(word, command.HELP, tuple(options), tuple(positionals))


def _source(action: argparse.Action) -> Source:
    """Return what may stand as the value of one option or positional."""
    if action.choices is not None:
        return Source(words=tuple(map(str, action.choices)))
    if action.dest in NAMES_BY_DEST and action.type is not Path:
        return Source(kind=NAMES_BY_DEST[action.dest])
    if action.dest == "engine" and action.type is not Path:
        return Source(kind="recipes")
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar == "DIR" or action.dest in ("library_root", "golden_artifact_root"):
        return Source(kind=FOLDERS)
    is_file = action.type is Path or metavar.startswith(("FILE", "HSACO"))
    return Source(kind=FILES if is_file else NOTHING)


def bash_script(commands: Sequence[CommandWords]) -> str:
    """Return the script for bash 4 and newer."""
    values, bodies = [], []
    for command in commands:
        for option in command.options:
            if option.value is not None:
                keys = "|".join(f"{command.word}:{spelling}" for spelling in option.spellings)
                values.append(f"    {keys}) {_bash_call(option.value)}; return ;;")
        spellings = " ".join(s for option in command.options for s in option.spellings)
        calls = "; ".join(dict.fromkeys(map(_bash_call, command.positionals))) or ":"
        bodies.append(f"    {command.word}:-*) _netra_words {spellings} ;;")
        bodies.append(f"    {command.word}:*) {calls} ;;")
    words = " ".join(command.word for command in commands)
    return _BASH.format(words=words, values="\n".join(values), bodies="\n".join(bodies))


def _bash_call(source: Source) -> str:
    if source.words:
        return f"_netra_words {' '.join(source.words)}"
    known = {FILES: "_netra_files -f", FOLDERS: "_netra_files -d", NOTHING: ":"}
    return known.get(source.kind, f"_netra_names {source.kind}")


_BASH = """\
# Completion of the netra command for bash: source this file.

_netra_add() {{
    local found
    while IFS= read -r found; do
        [[ -z $found ]] || COMPREPLY+=("$found")
    done
}}

_netra_words() {{
    _netra_add < <(compgen -W "$*" -- "$_netra_current")
}}

_netra_files() {{
    compopt -o filenames 2>/dev/null
    _netra_add < <(compgen "$1" -- "$_netra_current")
}}

_netra_names() {{
    _netra_words $("${{COMP_WORDS[0]}}" completion --names "$1" 2>/dev/null)
}}

_netra() {{
    local _netra_current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    # The shell hands over --option=value as three words.
    if [[ $_netra_current == = ]]; then
        _netra_current=
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _netra_words {words}
        return
    fi
    case ${{COMP_WORDS[1]}}:$previous in
{values}
    esac
    case ${{COMP_WORDS[1]}}:$_netra_current in
{bodies}
    esac
}}

complete -F _netra netra
"""


def zsh_script(commands: Sequence[CommandWords]) -> str:
    """Return the script for zsh, to be found as ``_netra`` on its function path."""
    described = "\n".join(f"        {_quoted(f'{c.word}:{c.help}')}" for c in commands)
    cases = []
    for command in commands:
        specs = [spec for option in command.options for spec in _zsh_option(option)]
        specs += [f"*:value:{_zsh_action(command.positionals)}"]
        lines = " \\\n".join(f"            {_quoted(spec)}" for spec in specs)
        cases.append(f"    {command.word})\n        _arguments \\\n{lines} ;;")
    return _ZSH.format(described=described, cases="\n".join(cases))


def _zsh_option(option: Option) -> list[str]:
    said = option.help.replace("[", "(").replace("]", ")").replace(":", ",")
    value = "" if option.value is None else f":value:{_zsh_action((option.value,))}"
    return [f"*{spelling}[{said}]{value}" for spelling in option.spellings]


def _zsh_action(sources: Sequence[Source]) -> str:
    """Return the action of one value; of several possible ones the first that is known."""
    for source in sources:
        if source.words and len(sources) == 1:
            return f"({' '.join(source.words)})"
        if source.kind in (FILES, FOLDERS):
            return "_files" if source.kind == FILES else "_files -/"
        if source.kind != NOTHING:
            # The blank in front keeps the shell from putting arguments before ours.
            return f" _netra_names {source.kind}"
    words = " ".join(word for source in sources for word in source.words)
    return f"({words})" if words else " "


_ZSH = """\
#compdef netra
# Completion of the netra command for zsh: save this file as _netra on the function path.

_netra_names() {{
    local -a found
    found=(${{(f)"$(_call_program names ${{_netra_program}} completion --names $1 2>/dev/null)"}})
    compadd -a found
}}

_netra() {{
    local _netra_program=$words[1]
    local -a commands
    commands=(
{described}
    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    ((CURRENT--))
    case $command in
{cases}
    esac
}}

if [[ $funcstack[1] == _netra ]]; then
    _netra "$@"
else
    compdef _netra netra
fi
"""


def fish_script(commands: Sequence[CommandWords]) -> str:
    """Return the script for fish."""
    lines = [_FISH.rstrip("\n")]
    for command in commands:
        said = _quoted(command.help)
        lines.append(f"complete -c netra -n __fish_use_subcommand -f -a {command.word} -d {said}")
    for command in commands:
        seen = f"-n '__fish_seen_subcommand_from {command.word}'"
        for option in command.options:
            value = "" if option.value is None else f" -r{_fish_value(option.value)}"
            for spelling in option.spellings:
                dashes = "-l" if spelling.startswith("--") else "-s"
                said = _quoted(option.help)
                name = spelling.lstrip("-")
                lines.append(f"complete -c netra {seen} {dashes} {name}{value} -d {said}")
        for source in command.positionals:
            lines.append(f"complete -c netra {seen}{_fish_value(source)}")
    return "\n".join(lines) + "\n"


def _fish_value(source: Source) -> str:
    if source.words:
        return f" -f -a {_quoted(' '.join(source.words))}"
    known = {FILES: " -F", FOLDERS: " -f -a '(__fish_complete_directories)'", NOTHING: " -f"}
    return known.get(source.kind, f" -f -a '(__netra_names {source.kind})'")


_FISH = """\
# Completion of the netra command for fish: save this file as netra.fish among its completions.

function __netra_names
    set -l program (commandline -opc)[1]
    $program completion --names $argv[1] 2>/dev/null
end

"""


def _quoted(text: str) -> str:
    """Return a text in single quotes, for any of the shells."""
    return "'" + text.replace("'", "'\\''") + "'"


SCRIPTS: Mapping[str, Callable[[Sequence[CommandWords]], str]] = MappingProxyType(
    {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
)
