"""Granted scopes inside an identity: their keys as one compressed text."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Final

from services.common.errors import LimitExceeded

GRANTED_SCOPES_MAX: Final = 1_024
"""Granted places of one identity: four times what the gateway stores for a user, so that no search fails for them."""

_SEPARATOR: Final = "\n"  # ids hold no control characters
_BYTES_MAX: Final = GRANTED_SCOPES_MAX * 4 * 4 * 130  # scopes x ids x bytes of a character x characters


def pack_scopes(keys: Sequence[str]) -> str:
    """The keys (`Scope.key`) as text.

    Raises:
        LimitExceeded: There are too many.
    """
    if len(keys) > GRANTED_SCOPES_MAX:
        raise LimitExceeded("granted_scopes", GRANTED_SCOPES_MAX)
    return base64.b64encode(zlib.compress(_SEPARATOR.join(keys).encode(), level=1)).decode("ascii")


def unpack_scopes(text: str) -> tuple[str, ...]:
    """The keys again: inverse of `pack_scopes`.

    Raises:
        ValueError: The text is not one that `pack_scopes` makes.
    """
    try:
        content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), _BYTES_MAX)
    except zlib.error as error:
        raise ValueError("the granted scopes cannot be read") from error
    return tuple(content.decode().split(_SEPARATOR))
