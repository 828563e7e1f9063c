"""Restore a whole request from the store, before a graph of it exists, where its trace fits."""

from __future__ import annotations

import os
from pathlib import Path

from netra_build.build.cache.request_trace import (
    OUTPUTS_BELOW,
    KeptTrace,
    Made,
    Trace,
    TracedProduct,
)
from netra_build.build.cache.store import Store
from netra_build.build.freshness.finished import NotedDigests
from netra_build.build.freshness.input_trace import InputTrace, RecordingDisk
from netra_build.build.graph.product import Product
from netra_build.build.record.tally import Paths
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import Disk, RealDisk, confined_path
from netra_build.core.errors import NetraError
from netra_build.core.folders import ConfinedRoot


def fits(trace: Trace | KeptTrace, code: str, base: str, input_trace: InputTrace) -> bool:
    """Tell whether a request would be made from the same here; what is asked is noted.

    Of the traces that are kept nearly all differ in an input, so these are looked at first.
    """
    if trace.code != code:
        return False
    asked, disk, confined = trace.asked, RecordingDisk(input_trace), ConfinedRoot(Path(base))
    questions = {"exists": disk.exists, "is_file": disk.is_file, "is_folder": disk.is_folder}
    try:
        for name, digest in asked.inputs.items():
            if blake3_hex(disk.read_bytes(confined.path(name, name))) != digest:
                return False
        for kind, name, answer in asked.answers:
            if kind not in questions or questions[kind](Path(base + name)) != answer:
                return False
        for folder, suffix, names in asked.listings:
            top = Path(base + folder)
            found = disk.files_under(top, suffix)
            if tuple(path.relative_to(top).as_posix() for path in found) != names:
                return False
    except NetraError:
        return False
    return True


def restore(made: Made, base: str, store: Store) -> dict[str, str] | None:
    """Write every output that is not there yet; return the digests of all by relative path.

    None when the store lacks one, or a name leads out of the build folder; what was written by
    then is right, and a product that is not whole has no seal. Raises ``NetraError`` when writing
    fails.
    """
    disk, confined = RealDisk(), ConfinedRoot(Path(base))
    products = {f"{one.folder}/": _product(one, base) for one in made.products}
    seals = {f"{one.folder}/{one.seal}" for one in made.products}
    for action, files in sorted(made.groups, key=lambda group: not seals.isdisjoint(group[1])):
        paths = {name: confined.path(name, "store") for name in files}
        if not all(name.startswith(OUTPUTS_BELOW) for name in files):
            return None
        lacking = [n for n in files if n in seals or not _has(disk, paths[n], files[n])]
        kept = _kept(action, tuple(files), store) if lacking else {}
        for name in sorted(lacking, key=seals.__contains__):
            data = kept.get(name)
            if data is None or blake3_hex(data) != files[name]:
                data = store.get_blob(files[name])
            if data is None:
                return None
            for prefix, product in products.items():
                if name.startswith(prefix):
                    _begin(product)
            disk.write_output(paths[name], data)
    for product in products.values():
        if product.has_begun:
            product.finish()
    return dict(made.outputs)


def _product(traced: TracedProduct, base: str) -> Product:
    folder = confined_path(Path(base), traced.folder, "store")
    return Product(folder, traced.seal, traced.names, RealDisk(), is_alone=True)


def _kept(action: str, names: Paths, store: Store) -> dict[str, bytes]:
    """Return what the store has of an action by the names of its files."""
    found = store.all_outputs(action) if store.has_outputs(action) else None
    is_whole = found is not None and len(found) == len(names)
    return dict(zip(names, found.values(), strict=True)) if found and is_whole else {}


def _begin(product: Product) -> None:
    """Withdraw the seal of a product before its first file is written."""
    if not product.has_begun:
        product.refuse_foreign()
        product.begin()


def _has(disk: Disk, path: str, digest: str) -> bool:
    return (
        not os.path.islink(path)
        and disk.is_file(path)
        and blake3_hex(disk.read_bytes(path)) == digest
    )


def digests_below(input_trace: InputTrace, place: str, noted: NotedDigests) -> dict[str, str]:
    """Return the BLAKE3 of what was looked at below a folder, or of a file, by the names there.

    What was neither read nor noted is read now, and that is noted in ``input_trace``.
    """
    found = {}
    for path, (stamp, digest) in list(input_trace.files.items()):
        if path != place and not path.startswith(f"{place}/"):
            continue
        digest = digest or (noted.digest(path, stamp) if stamp is not None else None)
        if digest is None:
            digest = blake3_hex(RealDisk().read_bytes(path))
            input_trace.saw_file(path, digest)
        found[path.removeprefix(place)] = digest
    return found
