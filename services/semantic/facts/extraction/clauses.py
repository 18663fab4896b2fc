"""Cuts a turn into clauses that state something, and says who each is about.

What nobody states is left out: code, quotations, lists, questions, conditions, and what follows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.common.text import split_sentences
from services.semantic.facts.extraction import clause_patterns as patterns
from services.semantic.facts.extraction.lexicon import NO_NAMES
from services.semantic.facts.extraction.person import expand_contractions, straight_quotes


@dataclass(frozen=True, slots=True)
class Clause:
    """A statement: who it is about and what is said of them."""

    subject: str  # "speaker", "relative", "other" or "" for one without, such as an order
    body: str  # what follows the subject, contractions and fillers removed; the whole clause where there is none
    relation: str = ""  # of a relative, such as "sister"
    name: str = ""  # of a relative or another, where given
    full: str = ""  # the clause as it was
    is_unsure: bool = False  # hedged
    is_speaker_plural: bool = False  # "we"
    is_plural: bool = False  # several relatives


def clauses_of(content: str, *, list_items: bool) -> Iterator[Clause]:
    """The clauses of a turn that state something, in order.

    Args:
        content: The text of a turn.
        list_items: Whether lines of lists are read.
    """
    for sentence in _stated_sentences(content, list_items=list_items):
        yield from _clauses_of_sentence(sentence)


def _stated_sentences(content: str, *, list_items: bool) -> Iterator[str]:
    text = straight_quotes(content)
    if "`" in text or "~~~" in text:
        text = patterns.CHUNKS.sub("\n\n", text).replace("`", "")
    if "\n" in text:
        lines = []
        for line in text.split("\n"):
            if list_items and patterns.LIST_LINE.match(line):
                lines.append(patterns.LIST_LINE.sub("", line))
            elif patterns.DROPPED_LINE.match(line):
                lines.append("")
            else:
                lines.append(line)
        text = "\n".join(lines)
    text = patterns.MARKUP.sub("", text)
    if text.islower():
        # Written without capitals throughout: names are told by where they stand.
        text = patterns.BARE_NAME.sub(lambda match: f"{match[1]} {match[2].upper()}", text)
        text = patterns.BARE_I.sub("I", text)
    if '"' in text:
        text = patterns.QUOTED.sub('""', text)
    for sentence in split_sentences(text):
        if len(sentence) >= 6 and patterns.WORTH_READING.search(sentence):
            yield " ".join(sentence.split())


def _clauses_of_sentence(sentence: str) -> Iterator[Clause]:
    asks = sentence.rstrip("\"')]* ").endswith("?") and not patterns.REQUEST.match(sentence)
    sentence = sentence.rstrip(".!?… \"')]*")
    pieces: list[tuple[str, bool]] = []  # the text, and whether it stands under a condition
    begin = 0
    conditional = False
    for match in patterns.SPLIT.finditer(sentence):
        pieces.append((sentence[begin : match.start()], conditional))
        separator = match.group().strip(" ,").lower()
        conditional = separator in {"if", "unless", "when", "whenever", "where", "who", "whose", "which", "otherwise"}
        begin = match.end()
    pieces.append((sentence[begin:], conditional))
    if asks:
        # "I'm vegetarian, what can I cook?" states something before it asks.
        last, is_conditional = pieces.pop()
        before = patterns.ASKING_PART.split(last, maxsplit=1)
        if len(before) > 1:
            pieces.append((before[0], is_conditional))
    under_condition = False
    for text, is_conditional in pieces:
        clause = _without_lead_ins(text.strip(" ,:-"))
        if under_condition or is_conditional or not 3 <= len(clause) <= patterns.CLAUSE_CHARS_MAX:
            under_condition = False
            continue
        if patterns.CONDITION.match(clause):
            # What follows "if ..." holds only then; what follows "when ..." or "after ..." holds.
            under_condition = bool(patterns.HYPOTHETICAL.match(clause))
            continue
        yield _clause(clause)


def _without_lead_ins(clause: str) -> str:
    for _ in range(patterns.LEAD_INS_MAX):
        match = patterns.LEAD_IN.match(clause)
        if match is None or match.end() == len(clause):
            break
        clause = clause[match.end() :]
    match = patterns.LEADING_TIME.match(clause)
    if match is not None:
        clause = f"{clause[match.end() :]} {match['time'][0].lower()}{match['time'][1:]}"
    return clause


def _clause(text: str) -> Clause:
    is_unsure = bool(patterns.UNSURE.search(text))
    match = patterns.SUBJECT.match(text)
    if match is None:
        return Clause("", expand_contractions(text), full=text, is_unsure=is_unsure)
    rest = text[match.end() :]
    if match["speaker"]:
        short = (match["short"] or "").lower()
        if short == "'d" and rest.lower().startswith("better"):
            short = ""
        body = _plain(patterns.SHORT_FORMS.get(short, "") + rest)
        plural = match["speaker"].lower() == "we"
        return Clause("speaker", body, full=text, is_unsure=is_unsure, is_speaker_plural=plural)
    if match["own"]:
        short = (match["own_short"] or "").lower()
        body = _plain(_third_short(short, rest) + rest)
        relation = match["relation"].lower()
        name = match["name"] or ""
        return Clause(
            "relative",
            body,
            relation=relation,
            name="" if name in NO_NAMES else name,
            full=text,
            is_unsure=is_unsure,
            is_plural=bool(match["several"]) or relation in {"parents", "children", "wives"},
        )
    name = match["other"]
    if name.split()[0] in NO_NAMES:
        return Clause("", expand_contractions(text), full=text, is_unsure=is_unsure)
    body = _plain(_third_short((match["other_short"] or "").lower(), rest) + rest)
    return Clause("other", body, name=name, full=text, is_unsure=is_unsure)


def _third_short(short: str, rest: str) -> str:
    if short == "'s":
        return "has " if patterns.PERFECT_AHEAD.match(rest) else "is "
    return patterns.SHORT_FORMS.get(short, "")


def _plain(body: str) -> str:
    """The body without contractions and without adverbs that only colour it."""
    body = expand_contractions(body)
    match = patterns.FILLER.match(body)
    return match["kept"] + body[match.end() :] if match else body
