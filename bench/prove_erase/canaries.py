"""Canaries: random words that are written once and searched for in every form that a file may hold them in."""

from __future__ import annotations

import base64
import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

_ALPHABET: Final = string.ascii_lowercase + string.digits
_MARK_CHARS: Final = 12
_LITERALS: Final = 8
"""Bytes between two control bytes of PostgreSQL's own compression."""
_BASE64_CHARS: Final = 3
_SLICES: Final = 3
_SLICE_COMPONENTS: Final = 8


@dataclass(frozen=True, slots=True)
class Pattern:
    """Bytes that must not be in a file."""

    name: str
    """What was written: "turn", "fact", ..."""
    form: str
    """How it is written: "plain", "utf-16", ..."""
    data: bytes
    """The bytes."""


@dataclass
class Canaries:
    """The words of one run. All begin with one random mark, so that one search finds every one of them."""

    mark: str = field(default_factory=lambda: _random_word(_MARK_CHARS))
    """A random word that is nowhere else."""
    words: dict[str, str] = field(default_factory=dict)
    """Words by the name of what holds them."""

    def word(self, name: str) -> str:
        """The word of something that is written; the same one for the same name."""
        return self.words.setdefault(name, f"{self.mark}{len(self.words):02}")

    def patterns(self) -> list[Pattern]:
        """The mark in every form; `named` then says which word it is."""
        return [Pattern("mark", form, data) for form, data in _forms(self.mark).items()]

    def named(self, form: str, found: bytes) -> str:
        """Which word was found, where the bytes from the hit on say so; else "?"."""
        if not form.startswith(("plain", "utf-16")):
            return "?"
        text = found.replace(b"\x00", b"").decode("latin-1")[: len(self.mark) + 2]
        return next((name for name, word in self.words.items() if text == word), "?")


def vector_patterns(name: str, vector: NDArray[np.float32], *, forms: Sequence[str] = ("<f4", "<f8")) -> list[Pattern]:
    """Eight components at each of three places of a vector, as 32 and 64 bit floats."""
    starts = np.linspace(0, len(vector) - _SLICE_COMPONENTS, _SLICES).astype(int)
    found = []
    for start in starts:
        part = vector[start : start + _SLICE_COMPONENTS]
        found += [Pattern(name, f"vector {form}", part.astype(form).tobytes()) for form in forms]
    return found


def _forms(word: str) -> Mapping[str, bytes]:
    plain = word.encode("ascii")
    forms = {
        "plain": plain,
        "plain, upper case": plain.upper(),
        "utf-16": word.encode("utf-16-le"),
        "utf-16, big-endian": word.encode("utf-16-be"),
        "reversed": plain[::-1],
        "hex": plain.hex().encode("ascii"),
        "HEX": plain.hex().upper().encode("ascii"),
    }
    for shift in range(_BASE64_CHARS):
        encoded = base64.b64encode(b"\x00" * shift + plain)
        # The first and the last group hold bits of neighbours.
        forms[f"base64, shifted {shift}"] = encoded[4 if shift else 0 : -4]
    for offset in range(1, _LITERALS + 1):
        pieces = [plain[:offset], *(plain[n : n + _LITERALS] for n in range(offset, len(plain), _LITERALS))]
        forms[f"compressed, split at {offset}"] = b"\x00".join(piece for piece in pieces if piece)
    return forms


def _random_word(length: int) -> str:
    # A letter at both ends: tokenizers split numbers off.
    inner = "".join(secrets.choice(_ALPHABET) for _ in range(length - 2))
    return secrets.choice(string.ascii_lowercase) + inner + secrets.choice(string.ascii_lowercase)
