"""What a question or the text of an issue asks for: weighted terms, and names and paths that it mentions. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.semantic.code.terms import count_terms, terms_of_word, words_of

_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_NAME: Final = re.compile(r"[^\W\d]\w*")
_PATH: Final = re.compile(r"(?<![\w@+-])(?:[\w.@+-]{1,80}[/\\]){0,20}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,7}\b")
_DOTTED: Final = re.compile(r"\b[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+")
_FRAME: Final = re.compile(r'File "([^"\n]+)", line \d+, in (\S+)')
_TESTS: Final = re.compile(r"\btest(s|ing|ed)?\b", re.IGNORECASE)
_SHAPED: Final = re.compile(r"[a-z0-9]_[a-z0-9]|_[a-z]|[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^[A-Z]{2,}_")
_COUNTED_MAX: Final = 3
_FRAMES_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Question:
    """A text that is searched for."""

    terms: Mapping[str, float]
    """Terms with weights."""
    written: Mapping[str, str]
    """Terms that are stems of words, with the words as they are written: "ord" is "order"."""
    names: Mapping[str, float]
    """Names that may be those of definitions, in (0, 1]: how much they look like names in code, rather than words."""
    paths: tuple[str, ...]
    """Paths, with slashes, as far as they are written."""
    modules: tuple[str, ...]
    """Dotted names, as paths without an extension."""
    is_about_tests: bool


def question_of(text: str, *, title_weight: float = 2.0, code_weight: float = 0.5, weight_max: float = 4.0) -> Question:
    """Reads a text.

    Args:
        text: A question, or an issue with its title in the first line.
        title_weight: Of the first line of a text with several.
        code_weight: Of terms in fenced code.
        weight_max: Of one term.
    """
    title, _, rest = text.strip().partition("\n")
    code = "\n".join(_FENCED.findall(rest))
    prose = _FENCED.sub(" ", rest)
    weights: dict[str, float] = defaultdict(float)
    for part, weight in ((title, title_weight if rest.strip() else 1.0), (prose, 1.0), (code, code_weight)):
        for term, count in count_terms(part).items():
            weights[term] += weight * min(count, _COUNTED_MAX) ** 0.5
    slashed = text.replace("\\", "/")
    paths = dict.fromkeys(found.lstrip("./") for found in _PATH.findall(slashed))
    frames = _FRAME.findall(slashed)[-_FRAMES_MAX:]
    paths.update(dict.fromkeys(frame[0].lstrip("/") for frame in frames))
    modules = dict.fromkeys(found.replace("::", "/").replace(".", "/") for found in _DOTTED.findall(text))
    return Question(
        terms={term: min(weight, weight_max) for term, weight in weights.items()},
        written=_written(text),
        names=_names(text, title, [frame[1] for frame in frames]),
        paths=tuple(paths),
        modules=tuple(modules),
        is_about_tests=bool(_TESTS.search(title)),
    )


def _written(text: str) -> dict[str, str]:
    """The first word of each stem; of identifiers with several parts none."""
    found: dict[str, str] = {}
    for word in words_of(text):
        terms = terms_of_word(word)
        if len(terms) == 1:
            found.setdefault(terms[0], word)
    return found


def _names(text: str, title: str, frames: list[str]) -> dict[str, float]:
    in_title = set(_NAME.findall(title))
    is_short = "\n" not in text.strip()
    found: dict[str, float] = {}
    for name, count in Counter(_NAME.findall(text)).items():
        if len(name) < 3:
            continue
        is_code = bool(_SHAPED.search(name)) or f"`{name}`" in text or f"{name}(" in text or f".{name}" in text
        is_code = is_code or (name[0].isupper() and name not in _capitalised(title, name) and len(name) > 3)
        if is_code or (is_short and len(text.split()) == 1):
            found[name] = min(1.0, 0.5 + 0.5 * (name in in_title) + 0.1 * (count > 1))
    for depth, name in enumerate(reversed(frames)):
        found[name] = max(found.get(name, 0.0), 1.0 / (1 + depth))
    return found


def _capitalised(title: str, name: str) -> tuple[str, ...]:
    """The name, where it only begins the title."""
    return (name,) if title.startswith(name) and " " in title else ()
