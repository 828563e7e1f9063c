"""Decide from a manifest of a finished request, before anything else is loaded, that it still is.

The manifest names every input - files, folders that were listed, files looked for in vain - and
every output. Whatever is not exactly as noted, or cannot be judged, means "no": the full
evaluation then decides. This module imports next to nothing, because it runs at every start.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from blake3 import blake3

from netra_build.build.digests.distributions import found_imports
from netra_build.core import stamps
from netra_build.core.errors import BadInput

FORMAT = "netra-finished-2"
FOLDER = ".netra-finished"
NOTED = ("written_ns", "inputs")
MAX_MANIFEST_BYTES = 256 * 1024 * 1024

Request = Mapping[str, Any]
"""All that was asked for and all ambient values that count, as plain JSON."""

QUESTIONS = {"exists": stamps.exists, "is_file": stamps.is_file, "is_folder": stamps.is_folder}


class NotAsItWas(Exception):
    """The first thing that differs from the manifest."""


class Verdict(NamedTuple):
    """What the check found: why the full evaluation is needed, or that there is nothing to do."""

    reason: str
    inputs: int = 0
    outputs: int = 0
    said: tuple[str, ...] = ()
    """Lines that the finished request printed and that belong to its result."""
    noted: Mapping[str, Any] = MappingProxyType({})
    """Of a manifest that something differs from, what ``trust_noted`` needs."""

    def line(self) -> str:
        """Return the closing line of a request that has nothing to do."""
        return f"nothing to do: {self.inputs} inputs and {self.outputs} outputs are as they were"


def builds_in(roots: Iterable[str]) -> list[str]:
    """Return the build folders below ``roots`` in which a request was finished."""
    builds = [f"{root.rstrip('/')}/build" for root in roots]
    return [build for build in builds if os.path.isdir(f"{build}/{FOLDER}")]


def scons_request(folder: str, variables: Mapping[str, str], targets: Iterable[str]) -> Request:
    """Return a request to SCons: what it asks for, where, and which code answers it."""
    asked = {"variables": dict(variables), "targets": list(targets), "folder": folder}
    return {"front": "scons", **asked, **running_code()}


def running_code() -> dict[str, Any]:
    """Return what makes up the interpreter, our package and where its imports come from."""
    return {
        "python": sys.version,
        "executable": sys.executable,
        "package": os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        "imports": found_imports(),
    }


def request_key(request: Request) -> str:
    """Return the name of a request: equal requests have equal names."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True)
    return str(blake3(text.encode("ascii")).hexdigest())


def manifest_path(build: str, request: Request) -> str:
    """Return where the manifest of a request lies below the build folder."""
    return f"{build}/{FOLDER}/{request_key(request)}.json"


def judge(
    build: str,
    request: Request,
    environment: Mapping[str, str],
    *,
    verify: bool = False,
    by_another: bool = False,
) -> Verdict:
    """Tell whether the request was finished and everything is as it was then.

    ``by_another`` says that another front than the one that finished it asks. ``verify`` reads and
    hashes all files instead of trusting their stamps.
    """
    try:
        manifest = read_manifest(manifest_path(build, request))
        if manifest["request"] != request:
            return Verdict("another request")
        if by_another and not manifest["is_shared"]:
            return Verdict("finished with a tool chain that another front may not find")
        for name, value in manifest["environment"].items():
            if environment.get(name) != value:
                raise NotAsItWas(f"{name} has another value")
        check_inputs(manifest, verify)
        check_files(manifest, "outputs", verify)
        inputs, outputs = (len(manifest[part]["names"]) for part in ("inputs", "outputs"))
        return Verdict("", inputs, outputs, _lines(manifest["said"]))
    except NotAsItWas as difference:
        noted = {part: manifest.get(part) for part in NOTED} if not verify else {}
        return Verdict(str(difference), noted=noted)
    except Exception:  # whatever a damaged or hostile manifest leads to
        return Verdict("no usable manifest")


def _lines(said: Any) -> tuple[str, ...]:
    """Return lines that can be shown; raises ``TypeError`` or ``ValueError`` for anything else."""
    if not isinstance(said, list):
        raise TypeError("no list")
    "".join(said).encode()
    return tuple(said)


def forget(build: str, request: Request) -> None:
    """Remove the manifest of a request before its outputs change; ``BadInput`` if it stays."""
    path = manifest_path(build, request)
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):  # no manifest stands there
        return
    except OSError as error:
        reason = (error.strerror or "not possible").lower()
        raise BadInput(f"cannot remove: {reason}", location=path) from None


def read_manifest(path: str) -> dict[str, Any]:
    """Return a whole manifest; what is raised for anything else depends on what it is."""
    with open(path, "rb", opener=stamps.at_once) as stream:
        data = stream.read(min(os.fstat(stream.fileno()).st_size, MAX_MANIFEST_BYTES))
    head, _, body = data.partition(b"\n")
    if head != body_digest(body):
        raise ValueError("torn or altered")
    manifest: dict[str, Any] = json.loads(body)
    if manifest["format"] != FORMAT:
        raise ValueError("another format")
    return manifest


def body_digest(body: bytes) -> bytes:
    """Return the first line of a manifest: the digest of the rest."""
    return str(blake3(body).hexdigest()).encode("ascii")


def check_inputs(manifest: Mapping[str, Any], verify: bool) -> None:
    """Raise ``NotAsItWas`` for the first input that is not as the manifest says."""
    base, written_ns = manifest["base"], manifest["written_ns"]
    for kind, answers in manifest["answers"].items():
        question = QUESTIONS[kind]
        for name, answer in answers.items():
            if question(base + name if name[:1] != "/" else name) is not answer:
                raise NotAsItWas(f'"{name}" came or went')
    for listing in manifest["listings"]:
        _check_listing(listing, written_ns, verify)
    check_files(manifest, "inputs", verify)


def _check_listing(listing: Mapping[str, Any], written_ns: int, verify: bool) -> None:
    """Compare the folders' stamps; look again into a folder that was changed, or might have been.

    A change of no consequence - a file written anew under its name - leaves the same names.
    """
    noted_stamps = [] if verify else listing["stamps"].items()
    if noted_stamps and all(
        stamps.folder_stamp(folder) == tuple(noted)
        and not stamps.is_recent(noted[0], noted[1], written_ns)
        for folder, noted in noted_stamps
    ):
        return
    folder, skipped = listing["folder"], listing["skipped"]
    if names_digest(look_below(folder, listing["suffix"], skipped)) != listing["names"]:
        raise NotAsItWas(f'other files lie in "{folder}"')


def look_below(folder: str, suffix: str | None, skipped: Collection[str]) -> tuple[str, ...]:
    """Return the files below a folder as a listing names them; all entries without a suffix."""
    if suffix is None:
        return stamps.entries_below(folder, skipped)
    return stamps.names_below(folder, suffix, skipped)


def names_digest(names: Iterable[str]) -> str:
    """Return the BLAKE3 of names in their order; they are only ever compared."""
    text = "\0".join(names)
    return str(blake3(text.encode("utf-8", "surrogateescape")).hexdigest())


def check_files(manifest: Mapping[str, Any], part: str, verify: bool) -> None:
    """Raise ``NotAsItWas`` for the first file of a part that has other contents, or is none.

    An output has to be a regular file itself; an input may be reached through links.
    """
    base, written_ns, files = manifest["base"], manifest["written_ns"], manifest[part]
    ask = os.lstat if part == "outputs" else os.stat
    each = stamps.each_stamp(files["stamps"])
    for name, stamp, digest in zip(files["names"], each, files["digests"], strict=True):
        path = base + name if name[:1] != "/" else name
        try:
            now = ask(path)
        except OSError:
            raise NotAsItWas(f'"{name}" is gone') from None
        is_same = not verify and stamps.status_state(now) == stamp
        if is_same and not stamps.is_recent(stamp[1], stamp[2], written_ns):
            continue
        if now.st_mode & stamps.KIND_OF_FILE != stamps.REGULAR or now.st_size != stamp[0]:
            raise NotAsItWas(f'"{name}" changed')
        if os.path.realpath(path) != manifest["links"].get(name, path):
            raise NotAsItWas(f'"{name}" lies elsewhere now')
        if stamps.hash_file(path) != digest:
            raise NotAsItWas(f'"{name}" changed')
