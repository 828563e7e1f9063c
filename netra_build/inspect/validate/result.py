"""Verify the code objects of a recipe from their own files: every record and report made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.notes_text import notes_text
from netra_build.asm.objects.rewrite import strip
from netra_build.asm.source.closure import computational_identity, include_closure
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, canonical_bytes, parse_object
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import first_difference
from netra_build.formats.fields import Fields
from netra_build.inspect.validate.reports import check_numerics
from netra_build.plan.instances import INCLUDES
from netra_build.release.kernels import RESULT, KernelRow, kernel_rows, read_as_ours
from netra_build.release.layout import CODE_OBJECTS
from netra_build.stages import build_result, check_object, equivalence, read_object

Files = Mapping[str, bytes]
MEMBER_KEYS = ("name", "tactic", "tactic_id", "contract_id", "maturity", "symbol", "source")


def verify_result(files: Files, tools: Toolchain | None) -> list[str]:
    """Raise ``BadInput`` with the first thing in a recipe's product that is not what it must be.

    ``files`` are those of the product by their names. Returns the files that stay unverified,
    most of them for want of a tool chain.
    """
    if RESULT not in files:
        raise BadInput("file is missing", location=RESULT)
    verifier = _Verifier(files, tools if tools is None or tools.disassembler else None)
    with read_as_ours(RESULT):
        rows = kernel_rows(CODE_OBJECTS, files, RESULT)
        for artifact in parse_object(files[RESULT], RESULT)["artifacts"]:
            verifier.verify(artifact, [row for row in rows if row.hsaco == artifact["hsaco"]])
        verifier.refuse_unnamed(rows)
        _check_document(files, rows)
    return verifier.unverified


@dataclass(frozen=True)
class _Stated:
    """Stands for the tool chain that the product names."""

    stated: Mapping[str, str]

    def identity(self) -> dict[str, str]:
        """Return what is stated."""
        return dict(self.stated)


class _Verifier:
    """Verifies one code object after the other; keeps what it could not verify."""

    def __init__(self, files: Files, tools: Toolchain | None) -> None:
        self.files = files
        self.tools = tools
        self.unverified: list[str] = []
        self._named = {RESULT}

    def verify(self, artifact: Mapping[str, Json], rows: list[KernelRow]) -> None:
        """Hold one code object and everything that speaks of it against each other."""
        hsaco, members = artifact["hsaco"], artifact["members"]
        stem = f"metadata/{artifact['name']}"
        code = read_code_object(self._file(hsaco), hsaco)
        threads = _threads(parse_object(self._file(f"{stem}.json"), f"{stem}.json"))
        kernels = [
            {"symbol": member["symbol"], "threads": count}
            for member, count in zip(members, threads, strict=True)
        ]
        record: dict[str, Json] = {
            "hsaco": hsaco,
            "kernels": kernels,
            "sources": [member["source"] for member in members],
            "locked_text_sha256": artifact["locked_text_sha256"],
        }
        views = read_object.run({"hsaco": code.data}, record, None)
        for role, suffix in (("record", ".json"), ("text", ".text"), ("notes", ".metadata.txt")):
            self._same(stem + suffix, views[role], "content differs from the code object")
        self._listing(f"{stem}.dis", hsaco, code.data)
        checked = {"hsaco": code.data, "dis": self._file(f"{stem}.dis")}
        report = check_object.run(checked, {"hsaco": hsaco, "gate": False}, None)["report"]
        self._same(f"{stem}.checks.json", report, "report differs from the static checks")
        self._sources(rows, hsaco, code)
        self._golden(artifact, stem, rows, threads)
        for member in members:
            self._numerics(member, code)

    def _sources(self, rows: list[KernelRow], hsaco: str, code: CodeObject) -> None:
        """Assemble the units of a code object again and hold ``.text`` against it."""
        for row in rows:
            self._named |= {row.source, *(f"{INCLUDES}/{name}" for name in row.includes)}
        if self.tools is None:
            self.unverified.append(hsaco)
            return
        objects = []
        for row in rows:
            names = [row.source, *(f"{INCLUDES}/{name}" for name in row.includes)]
            tree = {name: self.files[name] for name in names}
            objects.append(self._assembled(self.tools, tree, row.source, INCLUDES))
        if read_code_object(self.tools.link(objects), hsaco).text != code.text:
            raise BadInput(".text is not what the sources give", location=hsaco)

    def _golden(
        self, artifact: Mapping[str, Json], stem: str, rows: list[KernelRow], threads: list[int]
    ) -> None:
        """Make the golden side again and compare anew; nothing without a golden source."""
        name, hsaco = f"{stem}.equivalence.json", artifact["hsaco"]
        if name not in self.files:
            return
        self._named.add(name)
        sources = [f"generated/golden/{member['name']}.s" for member in artifact["members"]]
        units = {source: self._file(source) for source in sources}
        texts = [f"{stem}.golden{suffix}" for suffix in (".text", ".metadata.txt", ".dis")]
        self._named.update(texts)
        if self.tools is None:
            self.unverified += [*sources, *texts, name]
            return
        objects = [self._assembled(self.tools, {n: u}, n, ".") for n, u in units.items()]
        symbols = [
            read_code_object(self.tools.link([made]), source).kernels[0].symbol
            for made, source in zip(objects, sources, strict=True)
        ]
        made = strip(self.tools.link(objects))
        label = f"hsaco/{artifact['name']}.golden.hsaco"
        golden = read_code_object(made, label)
        fact = "content differs from what the golden source gives"
        for view, data in zip(
            texts, (golden.text, notes_text(golden, label).encode()), strict=False
        ):
            self._same(view, data, fact)
        self._listing(texts[2], label, made)
        ours = [(row.symbol, count) for row, count in zip(rows, threads, strict=True)]
        theirs = list(zip(symbols, threads, strict=True))
        derived = equivalence.compare(
            equivalence.read_side(self._file(hsaco), self._file(f"{stem}.dis"), ours, hsaco),
            equivalence.read_side(made, self._file(texts[2]), theirs, label),
            rows[0].maturity,
        )
        self._same(name, canonical_bytes(derived), "report differs from the comparison")

    def _numerics(self, member: Mapping[str, Json], code: CodeObject) -> None:
        name = f"metadata/{member['name']}.numerics.json"
        if name in self.files:
            report = Fields(parse_object(self._file(name), name), name)
            check_numerics(report, member["tactic"], member["symbol"], code)
            self.unverified.append(name)

    def _listing(self, name: str, label: str, data: bytes) -> None:
        if self.tools is None:
            self._file(name)
            self.unverified.append(name)
            return
        listing = self.tools.disassemble(data, label=label).encode()
        self._same(name, listing, "listing differs from the code object")

    def _assembled(self, tools: Toolchain, tree: Files, source: str, root: str) -> bytes:
        try:
            return tools.assemble_tree(tree, source, root)
        except AssemblyFailed as error:
            fact = f"source does not assemble: {error.line()}"
            raise BadInput(fact, location=source) from None

    def _file(self, name: str) -> bytes:
        if name not in self.files:
            raise BadInput("file is missing", location=name)
        self._named.add(name)
        return self.files[name]

    def _same(self, name: str, derived: bytes, fact: str) -> None:
        if self._file(name) != derived:
            raise BadInput(fact, location=name)

    def refuse_unnamed(self, rows: list[KernelRow]) -> None:
        """Refuse a file that no part of the product speaks of."""
        self._named |= {name for name in self.files if name in self._golden_names(rows)}
        for name in sorted(self.files):
            if name not in self._named:
                raise BadInput("file is named by nothing in the product", location=name)

    def _golden_names(self, rows: list[KernelRow]) -> set[str]:
        return {row.source.replace("generated/", "generated/golden/", 1) for row in rows}


def _threads(record: Mapping[str, Json]) -> list[int]:
    """Return the work-group size of each kernel in a record."""
    rows = record.get("kernels") or [record]
    return [row["resources"]["threads"] for row in rows]


def _check_document(files: Files, rows: list[KernelRow]) -> None:
    """Write ``build-result.json`` again from the files that it speaks of."""
    stated = parse_object(files[RESULT], RESULT)
    inputs = dict(files)
    del inputs[RESULT]
    for artifact in stated["artifacts"]:
        inputs[f"conform:{artifact['name']}"] = b""
        for member in artifact["members"]:
            row = next(row for row in rows if row.source == member["source"])
            inputs[f"closure:{member['name']}"] = _closure(files, row)
    artifacts = [
        {
            "name": artifact["name"],
            "members": [
                {key: member[key] for key in MEMBER_KEYS} for member in artifact["members"]
            ],
            "locked_text_sha256": artifact["locked_text_sha256"],
        }
        for artifact in stated["artifacts"]
    ]
    described = build_result.describe(inputs, {"artifacts": artifacts}, None)
    given = {"deployment": stated["deployment"]}
    written = build_result.join_parts(described, given, _as_tools(stated["toolchain"]))["result"]
    difference = first_difference(parse_object(written, RESULT), stated)
    if difference is not None:
        raise BadInput(
            "record differs from the files",
            location=f"{RESULT}#{difference.pointer}",
            expected=difference.expected,
            got=difference.actual,
        )
    if written != files[RESULT]:
        raise BadInput("document is not written canonically", location=RESULT)


def _as_tools(stated: Mapping[str, str]) -> Toolchain:
    return _Stated(stated)  # type: ignore[return-value]


def _closure(files: Files, row: KernelRow) -> bytes:
    template = row.includes[0]
    closure = include_closure(template, lambda name: files[f"{INCLUDES}/{name}"], row.source)
    return canonical_bytes(
        {
            "source_closure_sha256": closure.source_closure_sha256,
            "computational_identity": computational_identity(closure),
        }
    )
