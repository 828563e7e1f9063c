"""Stand-in for the include closure of the assembly layer, until that lands."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput

INCLUDE = re.compile(r'^\s*\.include\s+"([^"\n]+)"\s*$', re.M)
LOOSE = re.compile(r"^[ \t]*\.(?:include|incbin)\b.*$", re.M)
GUARD = re.compile(r"^\s*NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+)\s*$", re.M)
LOOSE_GUARD = re.compile(r"^[ \t]*NETRA_REQUIRE_EQ[ \t]+[A-Za-z0-9_]+[ \t]*,[ \t]*[0-9].*$", re.M)


@dataclass(frozen=True)
class Closure:
    files: Mapping[str, bytes]

    @property
    def source_closure_sha256(self) -> str:
        total = hashlib.sha256()
        for name, data in self.files.items():
            raw = name.encode()
            for part in (raw, data):
                total.update(len(part).to_bytes(8, "big"))
                total.update(part)
        return total.hexdigest()


def include_closure(template: str, read: Callable[[str], bytes], location: str) -> Closure:
    files: dict[str, bytes] = {}
    stack: list[tuple[str, tuple[str, ...]]] = [(template, ())]
    while stack:
        name, above = stack.pop()
        if name in above:
            raise BadInput(f'include cycle through "{name}"', location=location)
        if name in files:
            continue
        data = read(name)
        files[name] = data
        found = INCLUDE.findall(data.decode("utf-8"))
        nested = [(relative_name(item, name), (*above, name)) for item in found]
        stack.extend(reversed(nested))
    return Closure(files)


def published_computational_sha256(closure: Closure) -> str:
    total = hashlib.sha256()
    for index, data in enumerate(closure.files.values()):
        text = _normalised(data.decode("utf-8")).encode()
        total.update(index.to_bytes(8, "big") + len(text).to_bytes(8, "big") + text)
    return total.hexdigest()


def _normalised(text: str) -> str:
    kept = []
    debug = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(".section"):
            parts = line.split(None, 1)
            rest = parts[1].lstrip('"') if len(parts) > 1 else ""
            debug = rest.startswith(".debug")
        if debug or line.startswith((".file", ".loc", ".cfi_")):
            continue
        line = " ".join(line.split("//")[0].split(";")[0].split())
        if line:
            kept.append(line)
    return "\n".join(kept) + "\n"


def published_misses(closure: Closure) -> list[tuple[str, int, str]]:
    found = []
    for name, data in closure.files.items():
        text = data.decode("utf-8")
        for loose, strict in ((LOOSE, INCLUDE), (LOOSE_GUARD, GUARD)):
            for match in loose.finditer(text):
                if not strict.match(match.group()):
                    line = text.count("\n", 0, match.start()) + 1
                    found.append((name, line, match.group().strip()))
    return found
