"""Strict planning: compare tensors, grids, rows and arguments with the kernels that use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NoReturn

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.tactic import Catalog
from netra_build.formats.contracts import FixedContract
from netra_build.formats.launch import AbiArgument, KernelAbi, read_abi
from netra_build.formats.library import Library
from netra_build.formats.models.graph import Dimension
from netra_build.formats.plan import EnginePlan, OperationPlan
from netra_build.plan.dataflow import operation_place, tensor_shape
from netra_build.plan.instances import tactic_id

ROW_CONSTANT = "NETRA_ROWS"
TOKEN_CONSTANT = "NETRA_M"
PROFILE_DIMENSION = {"tokens": "m"}
"""Profile dimension that a dimension name of a kernel ABI stands for."""
GRID_DIMENSIONS = {"batch": ("batch",), "rows": ("m", "batch")}
"""Profile dimensions whose product a name in a kernel ABI's grid stands for."""


def kernel_abis(library: Library, catalog: Catalog) -> dict[str, KernelAbi]:
    """Return the ABI record of each tactic that has one, by full name."""
    found = ((tactic.name, read_abi(library, tactic_id(tactic))) for tactic in catalog.tactics)
    return {name: abi for name, abi in found if abi is not None}


def check_strictly(plan: EnginePlan, abi_by_tactic: Mapping[str, KernelAbi]) -> None:
    """Refuse what the published compiler accepts; raise ``BadInput`` with its location."""
    if plan.problems:
        raise plan.problems[0]
    _check_shared_contracts(plan)
    for operation in plan.operations:
        contract = operation.selection.contract
        if isinstance(contract, FixedContract):
            abi = abi_by_tactic.get(str(operation.selection.tactic))
            checker = _Checker(plan, operation, contract, abi is not None and abi.masked_grid)
            checker.check_rows()
            checker.check_dynamic_lds()
            checker.check_tensors()
            if abi is not None:
                checker.check_abi(abi)


def _check_shared_contracts(plan: EnginePlan) -> None:
    """Two operations of one contract id must agree on the whole record."""
    first: dict[str, OperationPlan] = {}
    for operation in plan.operations:
        contract = operation.selection.contract
        if contract is None:
            continue
        other = first.setdefault(contract.id, operation)
        if other.selection.contract != contract:
            raise BadInput(
                f'contract "{contract.id}" has two records, the other one for'
                f' "{other.operation.name}"',
                location=operation_place(plan.model, operation.index, operation.operation),
                hint="give both operations the same fallback",
            )


class _Checker:
    """Checks one selected kernel; names of ABI dimensions are bound as they are met.

    A kernel with a masked grid does not touch anything beyond the rows of a launch: it is
    compared with the largest size that the profile allows.
    """

    def __init__(
        self, plan: EnginePlan, operation: OperationPlan, contract: FixedContract, is_masked: bool
    ) -> None:
        self.is_masked = is_masked
        self.plan = plan
        self.profile = plan.profile
        self.guard_by_dimension = {guard.dimension: guard for guard in plan.profile.guards}
        self.operation = operation
        self.contract = contract
        self.place = operation_place(plan.model, operation.index, operation.operation)
        self.size_by_name: dict[str, int] = {}

    def _refuse(self, fact: str, **details: Any) -> NoReturn:
        raise BadInput(fact, location=self.place, **details)

    def _hold(self, fact: str, expected: object, got: object) -> None:
        if got != expected:
            self._refuse(fact, expected=expected, got=got)

    def _fixed(self, dimension: str) -> int:
        guard = self.guard_by_dimension.get(dimension)
        value = guard and (guard.maximum if self.is_masked else guard.exact)
        if value is None:
            self._refuse(
                f'kernel depends on "{dimension}", which profile "{self.profile.name}" does not fix'
            )
        return value

    def _rows(self, dimensions: Sequence[str]) -> int:
        """Return the product of dimensions; a profile that names no batch has one of 1."""
        named = {*self.guard_by_dimension, "m"}
        return prod(self._fixed(dimension) for dimension in dimensions if dimension in named)

    def check_rows(self) -> None:
        """Compare the rows and tokens that a kernel is built for with the profile's guards."""
        constants = dict(self.contract.constants + self.contract.specialization)
        tokens, rows = constants.get(TOKEN_CONSTANT), constants.get(ROW_CONSTANT)
        if tokens is not None:
            fact = "kernel is built for another m than the profile's"
            self._hold(fact, self._fixed("m"), tokens)
        if rows is not None:
            fact = f'kernel is built for other rows than profile "{self.profile.name}" has'
            self._hold(fact, self._rows(("m", "batch")), rows)

    def check_dynamic_lds(self) -> None:
        """Compare the dynamic LDS that an operation states with its kernel's."""
        stated = self.operation.operation.attributes.get("dynamic_lds_bytes")
        actual = self.contract.launch.dynamic_lds_bytes
        if stated is not None:
            self._hold("dynamic LDS differs from the kernel's", actual, stated)

    def check_tensors(self) -> None:
        """Compare the argument's tensors with the operation's inputs and outputs."""
        node = self.operation.operation
        named: dict[str, str] = {}
        for argument in self.operation.arguments:
            tensor = argument.get("tensor")
            if tensor is None:
                continue
            access = str(argument["access"])
            if "read" in access and tensor not in node.inputs:
                self._refuse(f'argument reads tensor "{tensor}", which is no input')
            if "write" in access and tensor not in node.outputs:
                self._refuse(f'argument writes tensor "{tensor}", which is no output')
            named[str(tensor)] = access
        if named:
            for tensor in (*node.inputs, *node.outputs):
                if tensor not in named:
                    self._refuse(f'tensor "{tensor}" is bound but no argument uses it')

    def check_abi(self, abi: KernelAbi) -> None:
        """Compare arguments, shapes, data types, layouts and grid with the kernel's ABI."""
        given = self.operation.arguments
        fact = "number of arguments differs from the kernel's ABI"
        self._hold(fact, len(abi.arguments), len(given))
        for argument, wanted in zip(given, abi.arguments, strict=True):
            self._check_argument(argument, wanted)
        for axis, size, actual in zip("xyz", abi.grid, self.contract.launch.grid, strict=True):
            if not self._fits(size, actual):
                self._hold(f"grid {axis} differs from the kernel's ABI", self._shown(size), actual)
        for name in (size for size in GRID_DIMENSIONS if size in abi.grid):
            fact = f'grid is for another "{name}" than profile "{self.profile.name}" has'
            self._hold(fact, self._rows(GRID_DIMENSIONS[name]), self.size_by_name[name])
        for name, dimension in PROFILE_DIMENSION.items():
            if name in self.size_by_name:
                fact = f'"{name}" differs from the profile\'s {dimension}'
                self._hold(fact, self._fixed(dimension), self.size_by_name[name])

    def _check_argument(self, argument: Mapping[str, Json], wanted: AbiArgument) -> None:
        kind = "pointer" if wanted.kind == "pointer" else "u32_constant"
        for key, value in (("kind", kind), ("offset", wanted.offset), ("access", wanted.access)):
            fact = f'{key} of argument "{argument["name"]}" differs from the kernel\'s ABI'
            self._hold(fact, value, argument.get(key))
        name = argument.get("tensor")
        if name is None or kind != "pointer":
            return
        tensor = self.plan.model.graph.tensor_by_name[str(name)]
        fact = f'of tensor "{tensor.name}" differs from the kernel\'s ABI'
        if wanted.dtype is not None:
            self._hold(f"data type {fact}", wanted.dtype, tensor.dtype)
        if wanted.layout is not None:
            self._hold(f"layout {fact}", wanted.layout, tensor.layout)
        shape = tensor_shape(tensor, self.profile, self.place)
        if wanted.shape and not self._shape_fits(wanted.shape, shape):
            sizes = [self._shown(size) for size in wanted.shape]
            self._refuse(f"shape {fact}", expected=sizes, got=list(shape))

    def _shape_fits(self, wanted: Sequence[Dimension], shape: Sequence[int]) -> bool:
        """Compare shapes; inner sizes may be split or joined, which does not move any byte."""
        if len(wanted) == len(shape):
            return all(self._fits(*pair) for pair in zip(wanted, shape, strict=True))
        open_names = {
            size for size in wanted if isinstance(size, str) and size not in self.size_by_name
        }
        known = prod(size for size in map(self._shown, wanted) if isinstance(size, int))
        rest, remainder = divmod(prod(shape), known)
        if remainder or len(open_names) > 1 or (not open_names and rest != 1):
            return False
        self.size_by_name.update(dict.fromkeys(open_names, rest))
        return isinstance(wanted[-1], str) or shape[-1] % wanted[-1] == 0

    def _fits(self, wanted: Dimension, actual: int) -> bool:
        if isinstance(wanted, str):
            return self.size_by_name.setdefault(wanted, actual) == actual
        return wanted == actual

    def _shown(self, wanted: Dimension) -> Dimension:
        return self.size_by_name.get(wanted, wanted) if isinstance(wanted, str) else wanted
