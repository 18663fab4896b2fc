"""Notes by rules: no model, no network, the same result on every run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.agentic.config import GenerationSettings
from services.agentic.generation import cues
from services.agentic.generation.port import AskedQuestion, GenerationItem
from services.agentic.generation.words import Word, keywords, salience, salient_words
from services.agentic.model import NoteDraft, NoteKind
from services.common.interactions import SourceInteraction
from services.common.text import split_sentences
from services.common.turns import MessageRole

_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s+(?P<hash>\S.*)|\*\*(?P<bold>[^*]{3,80}?):?\*\*:?)\s*$")
_MARKUP: Final = re.compile(r"(?:\*\*|__|`{1,3})")
_OPENING_PHRASE: Final = re.compile(
    r"^(?:sure|certainly|of course|absolutely|great question|good question"
    r"|happy to help|here(?:'s|’s| is| are))\b",  # noqa: RUF001
    re.IGNORECASE,
)
_QUESTION_WORDS_MIN: Final = 4
"""Words from which a question says what it is about even by common words: "When do you have to get up?"."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: list[Word]
    asks: bool
    reacts: bool

    @property
    def weight(self) -> float:
        return 0.0 if self.asks or self.reacts else salience(self.words)


class RuleNoteGenerator:
    """A note for each turn that states something, in its speaker's words.

    Greetings, thanks, reactions and mere questions give none. A short answer to a question is kept together
    with the question. A long turn is condensed to its salient sentences, a long answer of an assistant to headings and
    first sentences. Texts of the system and of tools give no notes: nobody said them.
    """

    def __init__(self, settings: GenerationSettings | None = None) -> None:
        """Use the settings, or the defaults."""
        self._settings: Final = settings or GenerationSettings()

    async def generate(self, items: Sequence[GenerationItem]) -> list[list[NoteDraft]]:
        """The notes of each interaction, in order. On a thread: long turns take milliseconds each."""
        drafts = await asyncio.to_thread(lambda: [self.draft(item) for item in items])
        return [[] if draft is None else [draft] for draft in drafts]

    def draft(self, item: GenerationItem) -> NoteDraft | None:
        """The note of one interaction, or None."""
        source = item.source
        turn = source.turn
        if turn.role not in {MessageRole.USER, MessageRole.ASSISTANT}:
            return None
        sentences = [_read(text) for text in _whole_sentences(_MARKUP.sub("", turn.content))]
        stated = [sentence for sentence in sentences if not sentence.asks and not sentence.reacts]
        weight = sum(sentence.weight for sentence in stated)
        has_caption = any(attachment.caption for attachment in turn.attachments)
        asked = item.asked if stated else None
        statement = " ".join(sentence.text for sentence in stated)
        if weight < self._least(stated, answers=asked is not None) and not has_caption:
            return None
        quoted = ""
        if turn.role is MessageRole.ASSISTANT and len(turn.content) >= self._settings.document_chars_min:
            content = spoken = self._document_content(turn.content)
        else:
            quoted = "" if asked is None else _clip(asked.text, self._settings.question_chars_max) + " "
            content, spoken = self._wording(source, stated, asked, quoted)
        captions = [a.caption for a in turn.attachments if a.caption]
        return NoteDraft(
            content=content,
            spoken=spoken,
            kind=kind_of(statement, role=turn.role, is_document=len(turn.content) >= self._settings.document_chars_min),
            importance=self.importance(statement, [word for sentence in stated for word in sentence.words]),
            keywords=keywords(
                [*([asked.text] if asked else []), *(s.text for s in stated), *captions],
                count_max=self._settings.keywords_max,
            ),
            tags=tags_of(statement, source, answers=asked is not None),
            attachments=turn.attachments,
            question_id=None if asked is None else asked.interaction_id,
            question_chars=len(quoted),
        )

    def _least(self, stated: Sequence[_Sentence], *, answers: bool) -> float:
        """The weight of a turn from which it is worth a note."""
        least = [self._settings.salience_min]
        if answers:
            least.append(self._settings.answer_salience_min)
        if any(_is_worth_a_note(sentence.text) for sentence in stated):
            least.append(self._settings.cued_salience_min)
        return min(least)

    def importance(self, statement: str, words: Sequence[Word]) -> float:
        """Importance in [0, 1]: base + the weight of each cue that occurs, at most 1."""
        weights = self._settings.importance
        total = weights.base
        for present, weight in (
            (cues.PERSONAL.search(statement), weights.personal),
            (cues.COMMITMENT.search(statement), weights.commitment),
            (cues.LIKE.search(statement) or cues.DISLIKE.search(statement), weights.preference),
            (cues.EMOTION.search(statement), weights.emotion),
            (any(word.is_number for word in words), weights.detail),
            (any(word.is_name for word in words), weights.name),
            (cues.ASKED_TO_REMEMBER.search(statement), weights.asked),
            (cues.HEALTH.search(statement), weights.health),
        ):
            if present:
                total += weight
        return max(0.0, min(1.0, total))

    def _wording(
        self, source: SourceInteraction, stated: Sequence[_Sentence], asked: AskedQuestion | None, quoted: str
    ) -> tuple[str, str]:
        """The note with names put in, and what was spoken, which begins with the quoted question."""
        speaker = speaker_name(source)
        chars_max = self._settings.content_chars_max
        if not stated:
            # A photo with no words to it, or with a question.
            captions = "; ".join(a.caption for a in source.turn.attachments if a.caption)
            return _clip(f"{speaker} showed a photo: {captions}", chars_max), _clip(source.turn.content, chars_max)
        lead = f"{speaker}: " if asked is None else f"{asked.speaker} asked: {quoted}{speaker} answered: "
        # Names are at most 128 characters long and may leave little of the budget.
        chosen = _condensed(stated, chars_max=max(chars_max // 4, chars_max - len(lead)))
        return lead + chosen, quoted + chosen

    def _document_content(self, content: str) -> str:
        """Headings with the first sentence under each, while the budget lasts; else the salient sentences."""
        parts: list[str] = []
        heading = ""
        fresh = True
        for line in content.splitlines():
            match = _HEADING.match(line)
            if match:
                # Closing marks are taken off here: a pattern that does takes quadratic time over a line of marks.
                title = match["bold"] or match["hash"].rstrip().rstrip("#")
                heading = _MARKUP.sub("", title).strip()
                fresh = True
                continue
            text = _MARKUP.sub("", line).strip()
            if not text or (_OPENING_PHRASE.match(text) and len(text) < 120):
                continue
            if fresh:
                first = split_sentences(text)[0]
                parts.append(f"{heading}: {first}" if heading else first)
                heading = ""
                fresh = False
            elif len(text) > 3 and (text[0].isdigit() or text[0] in "-*•") and len(text) < 160:
                parts.append(text)
        if len(parts) < 2:
            read = [_read(text) for text in split_sentences(_MARKUP.sub("", content))]
            return _condensed(
                [s for s in read if not _OPENING_PHRASE.match(s.text)] or read,
                chars_max=self._settings.content_chars_max,
            )
        return _joined(parts, chars_max=self._settings.content_chars_max)


def speaker_name(source: SourceInteraction) -> str:
    """The name that stands in a note: the speaker's, else that of the role."""
    return source.turn.speaker or ("Assistant" if source.turn.role is MessageRole.ASSISTANT else "User")


def asked_question(source: SourceInteraction, *, chars_max: int = 160) -> str:
    """What a turn asks at its end, for the note of the answer; empty if nothing."""
    if source.turn.role not in {MessageRole.USER, MessageRole.ASSISTANT}:
        return ""
    sentences = split_sentences(source.turn.content)
    if not sentences or not cues.ends_with_question_mark(sentences[-1]):
        return ""
    # "You? Any resolutions?" is one question of two sentences.
    question = sentences[-1]
    for sentence in reversed(sentences[:-1]):
        longer = f"{sentence} {question}"
        if not cues.ends_with_question_mark(sentence) or len(longer) > chars_max:
            break
        question = longer
    # "And you?" says nothing about its answer.
    is_specific = salient_words(question) or len(question.split()) >= _QUESTION_WORDS_MIN
    return _clip(question, chars_max) if is_specific else ""


def kind_of(statement: str, *, role: MessageRole, is_document: bool) -> NoteKind:
    """What a statement is, by its form; a statement of no other form is a fact."""
    if len(cues.STEP_LINE.findall(statement)) >= 2 or cues.is_procedure(statement):
        return NoteKind.PROCEDURE
    if role is MessageRole.ASSISTANT and is_document:
        return NoteKind.CONCEPT
    if cues.LIKE.search(statement) or cues.DISLIKE.search(statement):
        return NoteKind.PREFERENCE
    if cues.CONCEPT.search(statement):
        return NoteKind.CONCEPT
    if cues.HAPPENED.search(statement):
        return NoteKind.OBSERVATION
    return NoteKind.FACT


def tags_of(statement: str, source: SourceInteraction, *, answers: bool) -> tuple[str, ...]:
    """Labels by which notes can be filtered."""
    candidates = (
        ("commitment", cues.COMMITMENT.search(statement)),
        ("health", cues.HEALTH.search(statement)),
        ("emotion", cues.EMOTION.search(statement)),
        ("asked-to-remember", cues.ASKED_TO_REMEMBER.search(statement)),
        ("answer", answers),
        ("photo", any(a.caption or a.uri for a in source.turn.attachments)),
        ("assistant", source.turn.role is MessageRole.ASSISTANT),
    )
    return tuple(name for name, present in candidates if present)


def _is_worth_a_note(text: str) -> bool:
    """Whether few words are worth a note: "I'm diabetic.", "I hate coriander.", but not "I love that!"."""
    if cues.HEALTH.search(text):
        return True
    leads = (cues.LIKE, cues.DISLIKE, cues.ASKED_TO_REMEMBER)
    return any(lead.search(text) and salient_words(lead.sub(" ", text)) for lead in leads)


def _whole_sentences(text: str) -> list[str]:
    """Sentences, with those joined that a quoted question had cut: 'with "Will you?" piped on it'."""
    whole: list[str] = []
    for sentence in split_sentences(text):
        if whole and sentence[0].islower() and cues.ends_with_question_mark(whole[-1]):
            whole[-1] = f"{whole[-1]} {sentence}"
        else:
            whole.append(sentence)
    return whole


def _read(text: str) -> _Sentence:
    return _Sentence(text, salient_words(text), asks=cues.asks(text), reacts=cues.only_reacts(text))


def _condensed(sentences: Sequence[_Sentence], *, chars_max: int) -> str:
    """All sentences where they fit; else the first and the densest ones, in their own order."""
    if sum(len(s.text) + 1 for s in sentences) <= chars_max + 1:
        return " ".join(s.text for s in sentences)
    # Per root of length: per character alone would favour fragments, per sentence the long-winded.
    order = sorted(
        range(len(sentences)),
        key=lambda i: (i != 0, -sentences[i].weight / max(1.0, len(sentences[i].text)) ** 0.5, i),
    )
    chosen: list[int] = []
    budget = chars_max
    for i in order:
        if len(sentences[i].text) + 1 <= budget:
            chosen.append(i)
            budget -= len(sentences[i].text) + 1
    if not chosen:
        return _clip(sentences[0].text, chars_max)
    return " ".join(sentences[i].text for i in sorted(chosen))


def _joined(parts: Sequence[str], *, chars_max: int) -> str:
    text = ""
    for part in parts:
        longer = f"{text} {part}" if text else part
        if len(longer) > chars_max:
            break
        text = longer
    return text or _clip(parts[0], chars_max)


def _clip(text: str, chars_max: int) -> str:
    """The text, cut between words where it is too long."""
    if len(text) <= chars_max:
        return text
    cut = text.rfind(" ", 0, chars_max - 1)
    return text[: cut if cut > chars_max // 2 else chars_max - 1].rstrip() + "…"
