"""Publish a whole folder or nothing: a temporary neighbour that takes the folder's place."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput
from netra_build.core.folder_names import entries_below


def publish_folder(
    target: Path,
    files: Mapping[str, bytes],
    folders: Iterable[str],
    is_owned: Callable[[str], bool],
) -> None:
    """Make ``target`` hold exactly ``files`` (by relative name) and the empty ``folders``.

    A target that exists has to be empty or to hold only names for which ``is_owned`` says yes;
    anything else is refused with ``BadInput`` and left alone. On any failure the target is as
    it was.
    """
    place = Path(os.path.realpath(target))
    _refuse_foreign(place, target, is_owned)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-", suffix=".part"))
    except OSError as error:
        raise BadInput(f"cannot write: {_reason(error)}", location=str(target)) from None
    try:
        _fill(fresh, files, folders, str(target))
        _take_place(fresh, place)
    except OSError as error:
        raise BadInput(f"cannot write: {_reason(error)}", location=str(target)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _refuse_foreign(place: Path, target: Path, is_owned: Callable[[str], bool]) -> None:
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise BadInput("output is not a folder", location=str(target))
    for name in entries_below(str(place)):
        if not is_owned(name):
            raise BadInput(
                f'output folder holds the foreign file "{name}"',
                location=str(target),
                hint="choose another folder, or remove what is not a former output",
            )


def _fill(fresh: Path, files: Mapping[str, bytes], folders: Iterable[str], location: str) -> None:
    fresh.chmod(0o755)
    for name in folders:
        (fresh / relative_name(name, location)).mkdir(parents=True, exist_ok=True)
    made: set[str] = set()
    for name, data in files.items():
        path = os.path.join(fresh, relative_name(name, location))
        parent = os.path.dirname(path)
        if parent not in made:
            os.makedirs(parent, exist_ok=True)
            made.add(parent)
        # Unbuffered: an engine has thousands of small files, each written with one call.
        with open(path, "wb", buffering=0) as stream:
            _write_all(stream, data)


def _write_all(stream: io.FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while len(rest):
        rest = rest[stream.write(rest) or 0 :]


def _take_place(fresh: Path, place: Path) -> None:
    if not os.path.lexists(place):
        os.rename(fresh, place)
        return
    former = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-", suffix=".old"))
    try:
        os.rename(place, former / "out")
        try:
            os.rename(fresh, place)
        except OSError:
            os.rename(former / "out", place)
            raise
    finally:
        shutil.rmtree(former, ignore_errors=True)


def _reason(error: OSError) -> str:
    return (error.strerror or "cannot be used").lower()
