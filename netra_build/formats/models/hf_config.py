"""Read the facts of a model from a Hugging Face ``config.json``, without Transformers."""

from __future__ import annotations

from netra_build.core.canonical_json import Json, parse_object
from netra_build.formats.fields import Fields

FAMILY_BY_WORD = {"qwen": "qwen3.6", "gemma": "gemma"}

TEXT_KEYS = {
    "hidden_size": ("hidden_size",),
    "intermediate_size": ("intermediate_size", "moe_intermediate_size"),
    "num_hidden_layers": ("num_hidden_layers",),
    "num_attention_heads": ("num_attention_heads",),
    "num_key_value_heads": ("num_key_value_heads",),
    "head_dim": ("head_dim",),
    "linear_num_key_heads": ("linear_num_key_heads",),
    "linear_key_head_dim": ("linear_key_head_dim",),
    "linear_num_value_heads": ("linear_num_value_heads",),
    "linear_value_head_dim": ("linear_value_head_dim",),
    "linear_conv_kernel_dim": ("linear_conv_kernel_dim",),
    "layer_types": ("layer_types",),
    "full_attention_interval": ("full_attention_interval",),
    "attention_output_gate": ("attn_output_gate",),
    "vocab_size": ("vocab_size",),
    "mtp_layers": ("mtp_num_hidden_layers",),
    "max_position_embeddings": ("max_position_embeddings",),
}
"""Our key to the keys of the text configuration that give it, the first present one wins."""


def read_hf_config(data: bytes, location: str) -> dict[str, Json]:
    """Return family, architecture and sizes of a model; keys without a value are left out.

    The text configuration is ``text_config``, or the whole file when there is none. Raises
    ``BadInput`` for a model type that is neither of the known families. A tensor parallel degree
    is never made up.
    """
    root = Fields(parse_object(data, location), location)
    text = root.child("text_config") if root.value.get("text_config") is not None else root
    model_type = (text if text.has("model_type") else root).text("model_type").lower()
    family = next((name for word, name in FAMILY_BY_WORD.items() if word in model_type), None)
    if family is None:
        root.refuse(
            f'unknown model type "{model_type}"',
            "model_type",
            hint='known families: "qwen" and "gemma"',
        )
    architectures = root.array("architectures", [])
    record: dict[str, Json] = {
        "family": family,
        "architecture": architectures[0] if architectures else None,
        "model_type": model_type,
        "quantization_config": _first(root, text, "quantization_config"),
    }
    for key, sources in TEXT_KEYS.items():
        found = (text.value.get(source) for source in sources)
        record[key] = next((value for value in found if value is not None), None)
    return {key: value for key, value in record.items() if value is not None}


def _first(root: Fields, text: Fields, key: str) -> Json:
    value = root.value.get(key)
    return text.value.get(key) if value is None else value
