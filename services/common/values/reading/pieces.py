"""A statement in pieces and clauses, as a conversation has it. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.clauses import Clause, read_clauses
from services.common.values.reading.parts import split_parts
from services.common.values.words.lexicon import KIN

_ROLE_SUBJECTS: Final = re.compile(
    r"^(?:(?:the|my|our)\s+)?"
    r"(?:vet|doctor|allergist|specialist|optician|physio|midwife|surgeon|cardiologist|dermatologist|dentist|consultant|nurse|landlord|teacher|school|garage|pharmacist|tests?|results?|scan|survey|"
    r"surveyor|scales?|lease|agreement|valuer|statement|meter|manual|label|contract|invoice|plate|blood\s+test)\s+"
    r"(?:says?|said|shows?|showed|told\s+me|confirmed|wants)\s+(?:that\s+)?",
    re.IGNORECASE,
)
_HATED: Final = re.compile(r"\b(?:hates?|dislikes?|loathes?|detests?|can(?:'t|not) (?:stand|bear))\b", re.IGNORECASE)
_LOVED: Final = re.compile(r"\b(?:love|adore|enjoy)(?P<ending>s?)\b", re.IGNORECASE)
_COME_TO: Final = re.compile(r"\b(?:I've|I have|i've|i have|we've|we have) (?:come|grown|learned|learnt) to (?=\w)")
_OPENS: Final = r"(?:I|i|i'm|I'm|i've|I've|we|We|my|My|our|please|don't|[A-Z]\w+ (?:is|was|has|are|goes|eats|takes|\w+ed)|the (?:\w+ ){1,3}(?:doesn't|isn't|won't|can't)|the \w+ (?:is|was|has|are|gets|costs|takes|goes|\w+s))\b"  # noqa: E501
_CUT: Final = re.compile(
    rf"\s{{0,9}}[,:;]\s{{0,9}}(?:(?:and|but|so|because)\s{{1,9}})?(?={_OPENS})|\s{{1,9}}(?:and|but|so|because)\s{{1,9}}(?={_OPENS})|\s{{1,9}}-{{1,9}}\s{{1,9}}|"
    r"\s{0,9},\s{0,9}(?=(?:no|not|never|since|thanks\sto)\b)|"
    r"\s{0,9},\s{0,9}(?=(?:for|because\sof|out\sof)\s(?:the|my|our)\s[\w\s-]{2,40}[.!]?$)"
)
"""Where clauses end. A reason put behind a comma limits nothing: "my editor is VS Code now, for the debugger"."""
_SINCE_THEN: Final = re.compile(
    r"^(?:after|since|following|as\s+of|with\s+effect\s+from|starting|beginning)\s+(?:the|our|my|this|next|last)\s+"
    r"\w+(?:\s+\w+)?,?\s+(?=(?:my|our|i|we|the|there)\b)",
    re.IGNORECASE,
)
SCOPE_OPENS: Final = re.compile(r"^(?:for|at|on|in|when|if|during|as|unless|while|with|from|until)\b", re.IGNORECASE)
_ELLIPSES: Final = frozenset({("can", "not"), ("could", "not"), ("will", "not"), ("have", "not")})


@dataclass(frozen=True, slots=True)
class Read:
    """A statement in clauses."""

    pieces: tuple[str, ...]
    clauses: tuple[Clause, ...]


@text_cache(4_096)
def read_statement(text: str) -> Read:
    """Returns a statement in clauses. What a doctor or a test says is read as the speaker's own."""
    text = _LOVED.sub(r"like\g<ending>", _HATED.sub("do not like", text))
    plain = _SINCE_THEN.sub("", _COME_TO.sub("I now ", _ROLE_SUBJECTS.sub("", text)))
    pieces = tuple(_pieces(plain))
    clauses = tuple(clause for piece in pieces for clause in read_clauses(piece) or ())
    for clause in clauses:
        if not clause.subject and clause.words[:2] in _ELLIPSES:
            clause.subject = ("i",)  # "can't type for six weeks"
    for before, clause in pairwise(clauses):
        is_kin = any(word in KIN for item in before.subject for word in str(item).split())
        if clause.subject in {("she",), ("he",)} and is_kin and not set(map(str, before.rest)) & before.names:
            clause.subject = before.subject  # "my mother has moved, she lives in Oban now"
    return Read(pieces, clauses)


def clauses_up_to(words_max: int, text: str) -> Iterator[Clause]:
    """Yields the clauses of a statement, and its first part where a clause is longer: the remarks behind it say more.

    Args:
        words_max: How many words a clause may have.
        text: The statement.
    """
    clauses = read_statement(text).clauses
    yield from clauses
    if any(len(clause.tokens) > words_max for clause in clauses):
        yield from read_statement(split_parts(text)[0]).clauses


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _CUT.finditer(text):
        piece = text[start : match.start()]
        if match[0].strip() == "and" and len(piece.split()) == 1 and not start:
            continue  # "Olga and I"
        if SCOPE_OPENS.match(piece.strip()) and len(piece.split()) < 8:
            continue  # "at weddings, I ...": the scope belongs to what follows
        if piece.strip():
            yield piece.strip()
        start = match.end()
    if text[start:].strip():
        yield text[start:].strip()
