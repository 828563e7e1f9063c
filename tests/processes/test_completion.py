"""Shell completion: bash for real, the other scripts by what they hold."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pytest

from netra_build.cli.completion import SHELLS, completion_script
from netra_build.cli.main import COMMANDS, load_command, main

ROOT = Path(__file__).resolve().parent.parent.parent

STAND_IN = """#!/bin/sh
case "$*" in
"completion --names recipes") printf 'one_m1\\none_m8\\ntwo\\n' ;;
"completion --names tactics") printf 'gate_up\\ndown\\n' ;;
"completion --names profiles") printf 'decode\\nverify\\n' ;;
*) exit 2 ;;
esac
"""


@pytest.fixture(scope="module")
def script() -> str:
    """Return the bash script as the command prints it."""
    command = [sys.executable, "-m", "netra_build.cli.main", "completion", "bash"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


@pytest.fixture
def complete(script, tmp_path):
    """Return ``complete(WORD...)``: what bash offers for the last word."""
    (tmp_path / "netra").write_text(STAND_IN)
    (tmp_path / "netra").chmod(0o755)
    for name in ("engine.json", "engine two", "notes"):
        (tmp_path / name).write_text("")
    (tmp_path / "engines").mkdir()
    (tmp_path / "script").write_text(script)

    def run(*words: str) -> list[str]:
        program = 'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _netra; '
        program += 'printf "%s\\n" "${COMPREPLY[@]}"'
        outcome = subprocess.run(
            ["bash", "--norc", "-c", program, "bash", "./netra", *words],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert outcome.stderr == ""
        return sorted(outcome.stdout.split("\n")[:-1])

    return run


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["comp"], ["compile", "completion"]),
        (["rep"], ["repack", "report", "reproduce"]),
        (["nothing"], [""]),
        (["check", "--s"], ["--sarif", "--symbol"]),
        (["check", "x.hsaco", "--target", ""], ["gfx942", "gfx950"]),
        (["repack", "--transform", "aiter_s"], ["aiter_shuffle_16x16"]),
        (["completion", "z"], ["zsh"]),
        (["rebuild", "one"], ["one_m1", "one_m8"]),
        (["rebuild", "one_m1", "--profile", ""], ["decode", "verify"]),
        (["rebuild", "one_m1", "--profile", "=", "v"], ["verify"]),
        (["rebuild", "one_m1", "--profile", "="], ["decode", "verify"]),
        (["promote", "g"], ["gate_up"]),
        (["golden", "a"], ["accept"]),
        (["golden", "accept", "d"], ["down"]),
        (["diff", "engine"], ["engine two", "engine.json", "engines"]),
        (["repack", "--engine", "engine"], ["engines"]),
        (["repack", "--rows", ""], [""]),
    ],
)
def test_bash_offers_what_may_stand_there(complete, words, expected):
    assert complete(*words) == expected


def test_every_command_is_offered(complete):
    assert complete("") == sorted(COMMANDS)


@pytest.mark.parametrize("word", sorted(COMMANDS))
def test_every_option_of_every_command_is_offered(complete, word):
    """The options as argparse prints them, which is another way to the same words."""
    parser = argparse.ArgumentParser(prog="netra")
    load_command(word).add_arguments(parser)
    options = re.findall(r"(?<![\w-])--?[a-z][\w-]*", parser.format_usage())
    assert set(complete(word, "-")) == {*options, "-h", "--help"}


def test_bash_is_told_about_the_command(script):
    ask = "source /dev/stdin; complete -p netra"
    outcome = subprocess.run(
        ["bash", "--norc", "-c", ask], input=script, capture_output=True, text=True, check=True
    )
    assert outcome.stdout == "complete -F _netra netra\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_every_script_names_every_command_and_option(shell):
    commands = {word: load_command(word) for word in sorted(COMMANDS)}
    words = set(re.findall(r"[\w-]+", completion_script(shell, commands)))
    for word, command in commands.items():
        assert word in words
        parser = argparse.ArgumentParser(prog="netra")
        command.add_arguments(parser)
        for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", parser.format_usage()):
            assert option in words or option.lstrip("-") in words


class Sample:
    """A command whose help holds what shells treat as special."""

    help = "it's [one]: $HOME `x`"

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("-o", "--out", metavar="DIR", help="where it's [put]: $HOME")
        parser.add_argument("--mode", choices=["fast", "safe"], help="how")
        parser.add_argument("recipe", help="what")


def test_the_zsh_script_of_one_command():
    text = completion_script("zsh", {"run": Sample})
    assert """    run:'it'"'"'s [one]: $HOME `x`'\n""" in text
    body = text[text.index("_shtab_netra_run_options=(") :]
    assert body[: body.index("\n)\n")].splitlines()[2:] == [
        """  {-o,--out}"[where it\\'s \\[put\\]\\: \\$HOME]:DIR:_files -/\"""",
        """  "--mode[how]:mode:(fast safe)\"""",
        """  ":what: _netra_names recipes\"""",
    ]


def test_the_fish_script_of_one_command():
    lines = completion_script("fish", {"run": Sample}).splitlines()
    seen = "complete -c netra -n '_shtab_netra_using run"
    said = """'where it'"'"'s [put]: $HOME'"""
    assert lines[-3:] == [
        f"""{seen}' -s o -l out -xka "(__fish_complete_directories)" -d {said}""",
        f"""{seen}' -l mode -xka "fast safe" -d how""",
        f"""{seen}; and test $_shtab_netra_npos -eq 0' -ka "(__netra_names recipes)" -d what""",
    ]


def names(capsys: pytest.CaptureFixture, kind: str, *words: str) -> list[str]:
    assert main(["completion", "--names", kind, *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_names_are_those_of_the_library(capsys):
    root = ("--library-root", str(ROOT))
    assert names(capsys, "recipes", *root) == sorted(p.stem for p in ROOT.glob("recipes/*.yaml"))
    stems = [path.stem for path in ROOT.glob("manifests/gfx950/profiles/*.json")]
    assert names(capsys, "profiles", *root) == sorted(stems)
    assert "moe_gate_up_decode_m1" in names(capsys, "tactics", *root)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "netra completion: name a shell, or --names and a kind"),
        (["bash", "--names", "recipes"], "netra completion: name a shell, or --names and a kind"),
        (
            ["--names", "recipes", "--library-root", "nowhere"],
            'nowhere: not a kernel library root: it lacks "schemas/netra-model.schema.json", '
            '"schemas/netra-engine.schema.json", "manifests/gfx950/profiles", '
            '"manifests/gfx950/tactics", "kernels/gfx950/templates"',
        ),
    ],
)
def test_what_cannot_be_answered_is_one_line(capsys, words, message):
    assert main(["completion", *words]) == 2
    assert capsys.readouterr().err == f"netra: {message}\n"
