"""A search by words over texts in memory, for when neither the index nor the database can be asked."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.common.encryption.cipher import Cipher
from services.episodic.config import TextSettings
from services.episodic.stores.cached_rows import terms_of
from services.episodic.stores.points import create_bm25
from services.episodic.stores.postgres_rows import EPISODES

if TYPE_CHECKING:
    from asyncpg import Record


def best_by_words(found: Sequence[Record], cipher: Cipher, query: str, limit: int) -> tuple[list[Record], list[float]]:
    """Rows that share words with a query, the best first, then the others in their order; and their scores, >= 0.

    BM25 weights with the inverse document frequency over these rows. Blocks for some microseconds a row.

    Args:
        found: Rows with episode_id, query and response as they are stored, the newest first.
        cipher: Of the owner of all of them.
        query: In plain words.
        limit: Rows that are returned at most.

    Raises:
        DecryptionError: A text cannot be decrypted.
    """
    bm25 = create_bm25(TextSettings())
    wanted = terms_of(bm25.embed_query(query))
    weights: list[dict[int, float]] = []
    for row in found:
        opened = EPISODES.open(cipher, {name: row[name] for name in ("episode_id", "query", "response")})
        terms = terms_of(bm25.embed_document(f"{opened['query']} {opened['response']}"))
        weights.append({term: terms[term] for term in wanted if term in terms})
    frequencies = Counter(term for shared in weights for term in shared)
    inverse = {term: math.log((len(found) - count + 0.5) / (count + 0.5) + 1.0) for term, count in frequencies.items()}
    scores = [sum(weight * wanted[term] * inverse[term] for term, weight in shared.items()) for shared in weights]
    best = heapq.nsmallest(limit, range(len(found)), key=lambda place: (-scores[place], place))
    return [found[place] for place in best], [scores[place] for place in best]
