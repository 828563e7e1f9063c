"""Units of a published deployment recipe: the same chains, files side by side and not sealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netra_build.build.graph.actions import Place, Root
from netra_build.plan.deployment import ArtifactPlan
from netra_build.plan.units import Member, Unit

SUFFIXES = {".dis": ".dis", ".text": ".text", ".metadata.txt": ".metadata"}
"""Suffix of a published file by the suffix that engine directories give it."""


@dataclass(frozen=True)
class PublishedUnit(Unit):
    """A code object in the layout of the published recipe build."""

    @property
    def is_sealed(self) -> bool:
        """Published code objects keep their symbol table and comment."""
        return False

    @property
    def hsaco_name(self) -> str:
        """Name of the code object inside the product."""
        return f"{self.name}.hsaco"

    def metadata(self, suffix: str) -> Place:
        """Return the place of a description; what is not published is an intermediate file."""
        if suffix not in SUFFIXES:
            return self.intermediate(suffix)
        return self.at_home(self.name + SUFFIXES[suffix])

    def of_member(self, index: int, suffix: str) -> Place:
        """Return the place of a file of one member; its object is published."""
        place = super().of_member(index, suffix)
        return self.at_home(f"{self.stem(index)}.o") if suffix == ".o" else place


def deployment_units(name: str, plans: Sequence[ArtifactPlan]) -> list[Unit]:
    """Return one unit per artifact of a deployment recipe called ``name``."""
    return [
        PublishedUnit(
            name=plan.artifact.name,
            members=tuple(Member(item, None, None, None) for _, item in plan.instances),
            home=Root.OUT,
            prefix="",
            work=f"deployments/{name}/",
            gate=True,
            locked_text_sha256=None if plan.is_unlocked else plan.artifact.locked_text_sha256,
        )
        for plan in plans
    ]
