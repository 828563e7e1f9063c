"""Derive the reports about code objects again: listings, static checks, equivalence, numerics."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.disassembly import parse_disassembly
from netra_build.asm.objects.notes_text import notes_text
from netra_build.asm.objects.rewrite import strip
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.checker import check_code_object
from netra_build.checkasm.hazards.report import json_report
from netra_build.core.canonical_json import Json
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.core.json_difference import first_difference
from netra_build.formats.fields import Fields
from netra_build.formats.launch import read_launch
from netra_build.formats.vocabulary import TARGET
from netra_build.inspect.validate.engine_folder import EngineFolder
from netra_build.plan.instances import INCLUDES
from netra_build.stages.check_numerics import FORMAT as NUMERICS_FORMAT
from netra_build.stages.check_numerics import SCOPE
from netra_build.stages.equivalence import compare, read_side

RUN_KEYS = {"label": str, "elements": int, "differing": int, "wave_instructions": int}


class ReportVerifier:
    """Verifies the reports of one candidate after the other; keeps what it could not verify.

    Without ``tools`` listings and golden sides are taken as they are; what is derived from them
    is derived all the same.
    """

    def __init__(self, engine: EngineFolder, tools: Toolchain | None) -> None:
        self.engine = engine
        self.tools = tools if tools is None or tools.disassembler is not None else None
        self.unverified: list[str] = []

    def verify(self, candidate: Fields, code: CodeObject, hsaco: str) -> None:
        """Raise ``BadInput`` with the first report of a candidate that is not what it must be."""
        stem = f"metadata/{candidate.text('symbol')}"
        self._verify_source(candidate, code)
        self.verify_listing(f"{stem}.dis", hsaco, self.engine.read(hsaco))
        if self.engine.has(f"{stem}.checks.json"):
            self._verify_checks(stem, code, hsaco)
        if self.engine.has(f"{stem}.numerics.json"):
            self._verify_numerics(f"{stem}.numerics.json", candidate, code)
        if self.engine.has(f"{stem}.equivalence.json"):
            self._verify_equivalence(stem, candidate, code, hsaco)
        else:
            self._refuse_golden_side(stem, candidate)

    def verify_listing(self, name: str, label: str, data: bytes) -> None:
        """Hold one listing against the code object that it lists."""
        if not self.engine.has(name):
            return
        if self.tools is None:
            self.unverified.append(name)
        elif self.tools.disassemble(data, label=label).encode() != self.engine.read(name):
            raise BadInput(
                f'listing differs from the code object "{label}"',
                location=self.engine.location(name),
            )

    def _verify_source(self, candidate: Fields, code: CodeObject) -> None:
        """Assemble the candidate's source again and hold ``.text`` against it."""
        source = candidate.text("source")
        if self.tools is None:
            self.unverified.append(f"hsaco/{candidate.text('symbol')}.hsaco")
            return
        names = [source, *candidate.child("template_files").value]
        files = {name: self.engine.read(name) for name in names}
        made = self._made(self.tools, files, source, INCLUDES)
        text = read_code_object(made, source).text
        if text != code.text:
            raise BadInput(
                ".text of the code object is not what its source gives",
                location=self.engine.location(source),
                expected=f"sha256 {sha256_hex(text)}",
                got=f"sha256 {sha256_hex(code.text)}",
            )

    def _made(
        self, tools: Toolchain, files: Mapping[str, bytes], source: str, root: str = "."
    ) -> bytes:
        """Assemble and link one source of the engine."""
        try:
            return tools.link([tools.assemble_tree(files, source, root)])
        except AssemblyFailed as error:
            fact = f"source does not assemble: {error.line()}"
            raise BadInput(fact, location=self.engine.location(source)) from None

    def _verify_checks(self, stem: str, code: CodeObject, hsaco: str) -> None:
        name = f"{stem}.checks.json"
        listing = parse_disassembly(self._listing(f"{stem}.dis", name), hsaco)
        findings = check_code_object(code, listing, location=hsaco)
        self._same(name, json_report(findings, hsaco), "report differs from the static checks")

    def _verify_numerics(self, name: str, candidate: Fields, code: CodeObject) -> None:
        report = self.engine.fields(name)
        check_numerics(report, candidate.text("tactic"), candidate.text("symbol"), code)
        self.unverified.append(name)

    def _verify_equivalence(
        self, stem: str, candidate: Fields, code: CodeObject, hsaco: str
    ) -> None:
        name, symbol = f"{stem}.equivalence.json", candidate.text("symbol")
        report = self.engine.fields(name)
        golden_text = self._needed(f"{stem}.golden.text", name)
        expected: dict[str, Json] = {
            "generated_symbol": symbol,
            "generated_text_sha256": sha256_hex(code.text),
            "golden_text_sha256": sha256_hex(golden_text),
            "text_byte_identical": golden_text == code.text,
        }
        _hold(report, expected, '"{key}" differs from the code objects')
        source = f"generated/golden/{symbol}.s"
        if self.tools is None:
            self.unverified += [source, name]
            return
        unit = self._needed(source, name)
        made = strip(self._made(self.tools, {source: unit}, source))
        golden = read_code_object(made, source)
        label = f"hsaco/{symbol}.golden.hsaco"
        self._verify_golden_side(stem, golden, label, made)
        if len(golden.kernels) != 1:
            raise BadInput(
                "golden source has not exactly one kernel", location=self.engine.location(source)
            )
        threads = read_launch(candidate.child("launch")).work_items
        listing = self._listing(f"{stem}.dis", name).encode()
        ours = read_side(self.engine.read(hsaco), listing, [(symbol, threads)], hsaco)
        other = self._listing(f"{stem}.golden.dis", name).encode()
        theirs = read_side(made, other, [(golden.kernels[0].symbol, threads)], label)
        derived = compare(ours, theirs, candidate.text("maturity"))
        self._same(name, derived, "report differs from the comparison")

    def _verify_golden_side(self, stem: str, golden: CodeObject, label: str, made: bytes) -> None:
        views = {".golden.text": golden.text, ".golden.metadata.txt": notes_text(golden, label)}
        for suffix, view in views.items():
            name = stem + suffix
            data = view.encode() if isinstance(view, str) else view
            if self.engine.has(name) and self.engine.read(name) != data:
                raise BadInput(
                    "content differs from what the golden source gives",
                    location=self.engine.location(name),
                )
        self.verify_listing(f"{stem}.golden.dis", label, made)

    def _refuse_golden_side(self, stem: str, candidate: Fields) -> None:
        """Without a report nothing may be there of what only a comparison leaves."""
        suffixes = (".golden.text", ".golden.metadata.txt", ".golden.dis")
        source = f"generated/golden/{candidate.text('symbol')}.s"
        for name in (source, *(stem + suffix for suffix in suffixes)):
            if self.engine.has(name):
                raise BadInput(
                    "golden file without an equivalence report", location=self.engine.location(name)
                )

    def _needed(self, name: str, report: str) -> bytes:
        if not self.engine.has(name):
            raise BadInput(f'file "{name}" is missing', location=self.engine.location(report))
        return self.engine.read(name)

    def _listing(self, name: str, report: str) -> str:
        try:
            return self._needed(name, report).decode()
        except UnicodeDecodeError:
            raise BadInput("listing is not UTF-8", location=self.engine.location(name)) from None

    def _same(self, name: str, expected: Json, fact: str) -> None:
        difference = first_difference(expected, self.engine.document(name))
        if difference is not None:
            raise BadInput(
                fact,
                location=f"{self.engine.location(name)}#{difference.pointer}",
                expected=difference.expected,
                got=difference.actual,
            )


def check_numerics(report: Fields, tactic: str, symbol: str, code: CodeObject) -> None:
    """Hold what a numeric report is bound to; the launches themselves are not run again."""
    expected: dict[str, Json] = {
        "format": NUMERICS_FORMAT,
        "scope": SCOPE,
        "tactic": tactic.removeprefix(f"{TARGET}."),
        "symbol": symbol,
        "text_sha256": sha256_hex(code.text),
        "verdict": "passed",
    }
    report.close((*expected, "variant", "runs"))
    if not isinstance(report.get("variant"), str):
        report.refuse('"variant" has another type', "variant", got=report.get("variant"))
    _hold(report, expected)
    for run in report.objects("runs"):
        run.close(RUN_KEYS)
        for key, kind in RUN_KEYS.items():
            if type(run.get(key)) is not kind:
                run.refuse(f'"{key}" has another type', key, got=run.get(key))
        _hold(run, {"differing": 0})


def _hold(
    fields: Fields, expected: Mapping[str, Json], fact: str = '"{key}" has another value'
) -> None:
    for key, value in expected.items():
        got = fields.get(key)
        if got != value or type(got) is not type(value):
            fields.refuse(fact.format(key=key), key, expected=value, got=got)
