"""A memory in a user's store."""

from __future__ import annotations

from netra_build.build.cache.store import Store
from netra_build.core.canonical_json import Json, canonical_bytes
from netra_build.core.digests import blake3_hex

KIND = "answer"


class StoreMemory:
    """A memory in a store, which bounds it and drops what nobody asked for lately."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""
        for document in self.store.get_records(KIND, _key(question)):
            if isinstance(document, dict) and document.get("question") == question:
                return document.get("answer")
        return None

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""
        self.store.put_record(KIND, _key(question), {"question": question, "answer": answer})


def _key(question: Json) -> str:
    return blake3_hex(canonical_bytes(question))
