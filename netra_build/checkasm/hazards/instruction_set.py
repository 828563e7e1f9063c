"""Look-up of a printed mnemonic in the instruction table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from netra_build.checkasm.hazards.instruction_table import FAMILIES, Family
from netra_build.checkasm.hazards.registers import EXEC_MASK, M0_MASK, MODE_MASK, SCC_MASK, VCC_MASK

_IMPLIED = {
    "": 0,
    "vcc": VCC_MASK,
    "exec": EXEC_MASK,
    "scc": SCC_MASK,
    "m0": M0_MASK,
    "mode": MODE_MASK,
}
_SUFFIX = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")


@dataclass(frozen=True)
class Form:
    """How one mnemonic treats its operands; masks are register sets of ``registers``."""

    kind: str
    destinations: int
    tied: bool
    reads: int
    writes: int
    traits: frozenset[str]


def base_mnemonic(mnemonic: str) -> str:
    """Return a mnemonic without its encoding suffix."""
    return _SUFFIX.sub("", mnemonic)


def find_form(mnemonic: str) -> Form | None:
    """Return the form of a printed mnemonic, or None when the table does not know it."""
    known = _forms()
    return known.get(mnemonic) or known.get(base_mnemonic(mnemonic))


def known_mnemonics() -> frozenset[str]:
    """Return every base mnemonic of the table."""
    return frozenset(_forms())


def expand_braces(text: str) -> Iterator[str]:
    """Yield the words of ``text`` with their braces expanded, innermost last, as a shell does."""
    for word in text.split():
        yield from _expand_word(word)


@cache
def _forms() -> dict[str, Form]:
    forms: dict[str, Form] = {}
    for family in FAMILIES:
        form = _form(family)
        for mnemonic in expand_braces(family.mnemonics):
            if mnemonic in forms:
                raise ValueError(f'mnemonic "{mnemonic}" stands twice in the instruction table')
            forms[mnemonic] = form
    return forms


def _form(family: Family) -> Form:
    return Form(
        kind=family.kind,
        destinations=family.destinations,
        tied=family.tied,
        reads=_union(family.reads),
        writes=_union(family.writes),
        traits=frozenset(family.traits.split()),
    )


def _union(names: str) -> int:
    result = 0
    for name in names.split():
        result |= _IMPLIED[name]
    return result


def _expand_word(word: str) -> Iterator[str]:
    start = word.find("{")
    if start < 0:
        yield word
        return
    end = _matching(word, start)
    for choice in _choices(word[start + 1 : end]):
        for rest in _expand_word(choice + word[end + 1 :]):
            yield word[:start] + rest


def _matching(word: str, start: int) -> int:
    depth = 0
    for at in range(start, len(word)):
        depth += {"{": 1, "}": -1}.get(word[at], 0)
        if depth == 0:
            return at
    raise ValueError(f'brace of "{word}" is not closed')


def _choices(body: str) -> list[str]:
    """Split at the commas outside inner braces."""
    parts, depth, last = [], 0, 0
    for at, character in enumerate(body):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(body[last:at])
            last = at + 1
    return [*parts, body[last:]]
