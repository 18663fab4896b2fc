"""Reads a question: who is asked about, in which person, and which times it names.

Turns of a dialogue say "I" where a question about them says a name. Put into the first person the question
lies much nearer to the turns that answer it, which is worth more than any other signal of recall.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.dates import TimeRange, read_time_ranges
from services.common.speaker_names import Names

_ABOUT_USER: Final = re.compile(
    r"\b(?:i|i'm|i’m|i've|i’ve|ive|i'd|i’d|me|my|mine|myself|we|our)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_ABOUT_ASSISTANT: Final = re.compile(
    r"\b(?:did|have|had|were) (?:you\b|(?-i:u)(?![\w.]))"
    r"|\b(?:you(?:'ve|’ve)?|(?-i:u)) (?:said|told|gave|given|recommended|suggested|mentioned"  # noqa: RUF001
    r"|advised|explained|proposed|wrote)\b"
    r"|\b(?:your|(?-i:ur)) (?:answer|advice|recommendation|suggestion|explanation|reply|response)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """What a question says about the turns that answer it."""

    text: str
    """The question as it was asked."""
    first_person_text: str
    """The question as a speaker would put it; this is what is embedded and searched for words."""
    named_speakers: tuple[int, ...] = ()
    """Indices of the speakers that the question names, ascending."""
    about_user: bool = False
    """The question says "I" or "my": the asking user is meant."""
    about_assistant: bool = False
    """The question asks what the assistant ("you") said or did."""
    time_ranges: tuple[TimeRange, ...] = ()
    """Times that the question names; any of them may hold the evidence."""

    @property
    def is_personal(self) -> bool:
        """Whether the question is about someone who takes part in the conversation."""
        return bool(self.named_speakers) or self.about_user


def read_question(text: str, speakers: Sequence[str], now: datetime) -> QuestionEvidence:
    """Read the question by rules (English ones; a name is understood in any language).

    Args:
        text: The question.
        speakers: Distinct names of the speakers of the user's memories; may be empty.
        now: What "yesterday" is counted from; aware.

    Returns:
        The evidence; `named_speakers` are indices into `speakers`.
    """
    names = Names.of(tuple(speakers))
    return QuestionEvidence(
        text=text,
        first_person_text=names.to_first_person(text),
        named_speakers=names.named_in(text),
        about_user=bool(_ABOUT_USER.search(text)),
        about_assistant=bool(_ABOUT_ASSISTANT.search(text)),
        time_ranges=read_time_ranges(text, now),
    )


def to_first_person(text: str, speakers: Sequence[str]) -> str:
    """Return the text with every speaker's name as "I" and every "name's" as "my".

    Grammar is not repaired ("What did I do", but also "when I was to visit I"): the encoder does not
    mind, and repairs brought nothing. How names are found: see `Names`. A text without a speaker's name is
    returned as it is.
    """
    return Names.of(tuple(speakers)).to_first_person(text)
