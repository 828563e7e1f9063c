"""Derive again the files about code objects in a product: records, listings, reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.listings import notes_text
from netra_build.asm.objects.rewrite import strip
from netra_build.asm.source.closure import computational_identity, include_closure
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields, first_repeated
from netra_build.formats.vocabulary import TARGET
from netra_build.inspect.validate.engine_folder import ProductFiles
from netra_build.plan.instances import INCLUDES
from netra_build.stages import check_object, read_object
from netra_build.stages.check_numerics import FORMAT as NUMERICS_FORMAT
from netra_build.stages.check_numerics import SCOPE
from netra_build.stages.equivalence import compare, read_side
from netra_build.stages.golden import FORMAT as GOLDEN_FORMAT
from netra_build.stages.golden import golden_digests

GOLDEN_SUFFIXES = (".golden.text", ".golden.metadata.txt", ".golden.dis")
"""Of files that only a comparison with golden sources writes."""
RUN_KEYS = ("label", "elements", "differing", "wave_instructions")


@dataclass(frozen=True)
class Claim:
    """What a product states of one of its kernels; ``stem`` is the name of its own files.

    ``source`` is its unit, ``includes`` the files that this reaches, both by name in the product.
    """

    stem: str
    symbol: str
    tactic: str
    maturity: str
    threads: int
    source: str
    includes: tuple[str, ...]


class ObjectVerifier:
    """Verifies one code object after the other; collects the names of files not verified.

    Without ``tools`` listings and golden objects are not verified; what follows from them is.
    """

    def __init__(self, files: ProductFiles, tools: Toolchain | None) -> None:
        self.files = files
        self.tools = tools if tools is None or tools.disassembler is not None else None
        self.unverified: list[str] = []
        self.goldens: dict[str, Json] = {}
        """Symbol to what its golden source gives, as a record of a build states it."""

    def verify(self, name: str, claims: list[Claim], locked: str | None = None) -> None:
        """Raise ``BadInput`` with the first file about a code object that is not what it must be.

        ``locked`` is the digest that its ``.text`` has to have, if there is one.
        """
        hsaco, stem = f"hsaco/{name}.hsaco", f"metadata/{name}"
        code = read_code_object(self.files.read(hsaco), self.files.location(hsaco))
        kernels = [(claim.symbol, claim.threads) for claim in claims]
        self.verify_views(stem, code, hsaco, kernels, [claim.source for claim in claims], locked)
        self._verify_sources(claims, code, hsaco)
        self.verify_listing(f"{stem}.dis", hsaco, code.data)
        if self.files.has(report := f"{stem}.checks.json"):
            inputs = {"hsaco": code.data, "dis": self._listing(f"{stem}.dis", report)}
            made = check_object.check(inputs, {"hsaco": hsaco, "gate": False}, None)["report"]
            self.files.hold(report, made, "report differs from the static checks")
        for claim in claims:
            if self.files.has(f"metadata/{claim.stem}.numerics.json"):
                self._verify_numerics(f"metadata/{claim.stem}.numerics.json", claim, code)
        if self.files.has(f"{stem}.equivalence.json"):
            self._verify_equivalence(stem, claims, code, hsaco)
            return
        for name in (*map(_golden_source, claims), *(stem + suffix for suffix in GOLDEN_SUFFIXES)):
            if self.files.has(name):
                fact = "golden file without an equivalence report"
                raise BadInput(fact, location=self.files.location(name))

    def verify_views(
        self,
        stem: str,
        code: CodeObject,
        hsaco: str,
        kernels: list[tuple[str, int]],
        sources: list[str],
        locked: str | None = None,
        stated: Mapping[str, Json] | None = None,
    ) -> None:
        """Verify text, notes and record of a code object; see the stage ``read`` for ``stated``."""
        parameters = {
            "hsaco": hsaco,
            "kernels": [{"symbol": symbol, "threads": threads} for symbol, threads in kernels],
            "sources": sources,
            "locked_text_sha256": locked,
            **({} if stated is None else {"stated": stated}),
        }
        views = read_object.read({"hsaco": code.data}, parameters, None)
        fact = "content differs from the code object"
        self.files.hold(f"{stem}.text", views["text"], fact, hsaco)
        self.files.hold(f"{stem}.metadata.txt", views["notes"], fact, hsaco)
        self.files.hold(f"{stem}.json", views["record"], "record differs from the code object")

    def verify_listing(self, name: str, label: str, data: bytes) -> None:
        """Compare one listing with its code object."""
        if self.tools is not None:
            listing = self.tools.disassemble(data, label=label).encode()
            self.files.hold(name, listing, "listing differs from the code object", label)
        elif self.files.has(name):
            self.unverified.append(name)

    def _verify_sources(self, claims: list[Claim], code: CodeObject, hsaco: str) -> None:
        names = [(claim.source, *claim.includes) for claim in claims]
        trees = [{name: self.files.read(name) for name in some} for some in names]
        if self.tools is None:
            self.unverified.append(hsaco)
            return
        objects = [
            self._assembled(self.tools, tree, claim.source, INCLUDES)
            for tree, claim in zip(trees, claims, strict=True)
        ]
        source = claims[0].source
        text = read_code_object(self.tools.link(objects), source).text
        if text != code.text:
            raise BadInput(
                ".text of the code object is not what its source gives",
                location=self.files.location(source),
                expected=f"sha256 {sha256_hex(text)}",
                got=f"sha256 {sha256_hex(code.text)}",
            )

    def _assembled(
        self, tools: Toolchain, files: Mapping[str, bytes], source: str, root: str = "."
    ) -> bytes:
        try:
            return tools.assemble_tree(files, source, root)
        except AssemblyFailed as error:
            fact = f"source does not assemble: {error.line()}"
            raise BadInput(fact, location=self.files.location(source)) from None

    def _verify_numerics(self, name: str, claim: Claim, code: CodeObject) -> None:
        """Verify the digests in a numeric report; the launches themselves are not run again."""
        report = self.files.fields(name)
        expected: dict[str, Json] = {
            "format": NUMERICS_FORMAT,
            "scope": SCOPE,
            "tactic": claim.tactic.removeprefix(f"{TARGET}."),
            "symbol": claim.symbol,
            "text_sha256": sha256_hex(code.text),
            "verdict": "passed",
        }
        report.close((*expected, "variant", "runs"))
        if not isinstance(report.get("variant"), str):
            report.refuse('"variant" has another type', "variant", got=report.get("variant"))
        _hold(report, expected)
        labels = [_checked_run(run, str(expected["tactic"])) for run in report.objects("runs")]
        if not labels:
            report.refuse("report is about no run", "runs")
        if (label := first_repeated(labels)) is not None:
            report.refuse(f'"{label}" is listed twice', "runs")
        self.unverified.append(name)

    def _verify_equivalence(
        self, stem: str, claims: list[Claim], code: CodeObject, hsaco: str
    ) -> None:
        name = f"{stem}.equivalence.json"
        golden_text = self._needed(f"{stem}.golden.text", name)
        sources = [_golden_source(claim) for claim in claims]
        if self.tools is None:
            expected: dict[str, Json] = {
                "generated_symbol": claims[0].symbol,
                "generated_text_sha256": sha256_hex(code.text),
                "golden_text_sha256": sha256_hex(golden_text),
                "text_byte_identical": golden_text == code.text,
            }
            _hold(self.files.fields(name), expected, '"{key}" differs from the code objects')
            self.unverified += [*sources, name]
            return
        units = {source: self._needed(source, name) for source in sources}
        objects = [self._assembled(self.tools, {source: units[source]}, source) for source in units]
        label = f"{hsaco.removesuffix('.hsaco')}.golden.hsaco"
        golden = read_code_object(strip(self.tools.link(objects)), label)
        self._verify_golden_side(stem, golden, label)
        alone = [golden]
        if len(objects) > 1:
            alone = [read_code_object(self.tools.link([made]), label) for made in objects]
        symbols = list(map(self._only_symbol, alone, sources))
        for claim, code_alone, symbol in zip(claims, alone, symbols, strict=True):
            digests = golden_digests(code_alone.data, symbol, label)
            self.goldens[claim.symbol] = {"format": GOLDEN_FORMAT, **digests}
        threads = [claim.threads for claim in claims]
        ours = list(zip([claim.symbol for claim in claims], threads, strict=True))
        theirs = list(zip(symbols, threads, strict=True))
        derived = compare(
            read_side(code.data, self._listing(f"{stem}.dis", name), ours, hsaco),
            read_side(golden.data, self._listing(f"{stem}.golden.dis", name), theirs, label),
            claims[0].maturity,
        )
        self.files.hold(name, canonical_bytes(derived), "report differs from the comparison")

    def _only_symbol(self, golden: CodeObject, source: str) -> str:
        if len(golden.kernels) != 1:
            raise BadInput(
                "golden source has not exactly one kernel", location=self.files.location(source)
            )
        return golden.kernels[0].symbol

    def _verify_golden_side(self, stem: str, golden: CodeObject, label: str) -> None:
        fact = "content differs from what the golden source gives"
        self.files.hold(f"{stem}.golden.text", golden.text, fact)
        notes = notes_text(golden, label).encode()
        self.files.hold(f"{stem}.golden.metadata.txt", notes, fact)
        self.verify_listing(f"{stem}.golden.dis", label, golden.data)

    def _needed(self, name: str, report: str) -> bytes:
        if not self.files.has(name):
            raise BadInput(f'file "{name}" is missing', location=self.files.location(report))
        return self.files.read(name)

    def _listing(self, name: str, report: str) -> bytes:
        data = self._needed(name, report)
        try:
            data.decode()
        except UnicodeDecodeError:
            raise BadInput("listing is not UTF-8", location=self.files.location(name)) from None
        return data


def _checked_run(run: Fields, tactic: str) -> str:
    """Return the label of a run, which names its tactic, after a check of what it counts."""
    run.close(RUN_KEYS)
    _hold(run, {"differing": 0})
    for key in ("elements", "wave_instructions"):
        run.integer(key, low=1)
    label = run.text("label")
    if not re.fullmatch(rf"{re.escape(tactic)}/[A-Za-z0-9_-]+/[0-9]+", label):
        run.refuse(
            "label is of no case", "label", expected=f'"{tactic}/CASE/SEED"', got=f'"{label}"'
        )
    return label


def stated_tools(stated: Mapping[str, str]) -> Toolchain:
    """Return what stages that write products take for the tool chain of this identity."""
    return SimpleNamespace(identity=lambda: dict(stated))  # type: ignore[return-value]


def closure_record(files: ProductFiles, template: str, location: str) -> bytes:
    """Return the identities of what a template reaches, as records of builds state them."""
    closure = include_closure(template, lambda name: files.read(f"{INCLUDES}/{name}"), location)
    return canonical_bytes(
        {
            "source_closure_sha256": closure.source_closure_sha256,
            "computational_identity": computational_identity(closure),
        }
    )


def _golden_source(claim: Claim) -> str:
    return f"generated/golden/{claim.stem}.s"


def _hold(
    fields: Fields, expected: Mapping[str, Json], fact: str = '"{key}" has another value'
) -> None:
    for key, value in expected.items():
        fields.hold(key, value, fact.format(key=key))
