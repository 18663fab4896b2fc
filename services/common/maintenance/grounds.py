"""On which grounds a change is planned: what was taken back is not done again on the same ones.

Grounds are logged with their change, and hold no content: ids, numbers, and a checksum of 16 bits of what was said. A
text that changes has another checksum but in one of 65,536 cases, and nothing of a text can be told from it.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from typing import Final

_CHECKSUM_BITS: Final = 16
_DIGEST_CHARS: Final = 24


def grounds(action: str, ids: Iterable[str], *seen: object, texts: Iterable[str] = ()) -> str:
    """Names what calls for a change.

    Args:
        action: What is done.
        ids: Of the memories for which it is done, in any order.
        *seen: Numbers and times that call for it: when one of them changes, it may be done again.
        texts: What the memories say, in any order: when one of them changes, it may be done again.
    """
    digest = hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()[:_DIGEST_CHARS]
    said = zlib.crc32("\0".join(sorted(texts)).encode()) >> (32 - _CHECKSUM_BITS)
    return " ".join([action, digest, *map(str, seen), f"{said:04x}"])
