"""Words that the published formats fix: data types, roles, maturities and format names."""

from __future__ import annotations

from types import MappingProxyType

TARGET = "gfx950"
WAVE_SIZE = 64
UINT32_MAX = 2**32 - 1
UINT64_MAX = 2**64 - 1

ENGINE, CODE_OBJECTS = "engine", "code_objects"
"""Kinds of recipes, and of what a release packs."""

DTYPE_BYTES = MappingProxyType({"fp8_e4m3": 1, "fp16": 2, "bf16": 2, "fp32": 4, "int32": 4})
"""Bytes of one element by data type name."""

STORED_DTYPE = MappingProxyType(
    {"fp8_e4m3": "F8_E4M3", "fp16": "F16", "bf16": "BF16", "fp32": "F32", "int32": "I32"}
)
"""The name of a data type in safetensors files, by ours."""

SCALE_DTYPES = ("bf16", "fp32")
"""Data types that the block scales of a weight can have."""

TENSOR_ROLES = ("input", "output", "state", "weight", "temporary")
MATURITIES = ("experiment", "verified", "accepted", "rejected")
ACCESSES = ("read", "write", "read_write")
ARGUMENT_BYTES = MappingProxyType({"pointer": 8, "u32_constant": 4})
SEMANTIC_FIELDS = ("abi", "dtypes", "quantization", "layouts", "numerical")
RUNTIME_STORAGES = ("workspace", "caller_binding")
EXTERNAL_STATUSES = ("accepted_external_dispatch", "framework_fallback")

MODEL_LISTS = (
    *("dense_operations", "layer_dense_operations", "golden_operations"),
    *("fixed_operation_templates", "fallback_operations"),
)
"""The lists of operations of a model description that has no graph."""

EXECUTE_KERNEL = "kernel"
EXECUTE_FRAMEWORK = "framework_fallback"
EXECUTE_FALLBACK = "fallback"
EXECUTIONS = (EXECUTE_KERNEL, EXECUTE_FRAMEWORK, EXECUTE_FALLBACK)

KIND_TEMPLATE = "raw_assembly_template"
KIND_GOLDEN = "golden_external_hsaco"
KIND_FRAMEWORK = "framework_external"
KIND_FALLBACK = "framework_fallback"

FORMAT_MODEL = "netra-model-1"
FORMAT_GRAPH = "netra-ir-1"
FORMAT_PROFILE = "netra-profile-1"
FORMAT_CATALOG = "netra-fixed-tactic-catalog-1"
FORMAT_DEPLOYMENT = "netra-compatibility-build-1"
FORMAT_BUILD_RESULT = "netra-compatibility-build-result-1"
FORMAT_ENGINE = "netra-engine-1"
FORMAT_CONTRACTS = "netra-contract-set-1"
FORMAT_GRAPH_RECIPE = "netra-graph-recipe-1"
FORMAT_MEMORY = "netra-memory-plan-1"
FORMAT_LAYOUT = "netra-layout-plan-1"
FORMAT_VALIDATION = "netra-validation-plan-1"

PLACEMENTS = ("first_use", "best")
"""How buffers are placed: as published, or in the best of several orders."""
