"""Rewrites conversations the way people type to each other on a telephone.

Conversations made for benchmarks are tidy: capitals, marks, one turn each. Those of people are not, and a ranker that
has seen tidy ones alone trusts what is not there. So a conversation between people is fitted on twice, as it is and as
a chat: lower case, few marks, a turn in several messages, slips, abbreviations, emoji, messages that say nothing. All
of it by rules and by chance, which is the same in every run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench.locomo import LocomoConversation, LocomoQuestion, LocomoSession, LocomoTurn
from services.common.text import split_sentences

_ASSISTANT: Final = "assistant"
_MESSAGE_MARK: Final = "/"  # between the id of a turn and the number of a message of it

_SPLIT: Final = 0.7  # chance that a sentence is a message of its own
_FILLER: Final = 0.12  # chance of a message that says nothing before a turn
_MARK_KEPT: Final = 0.25  # of question marks and exclamation marks
_TRAILING_OFF: Final = 0.04
_COMMAS_DROPPED: Final = 0.5  # of sentences
_APOSTROPHES_DROPPED: Final = 0.6  # of sentences
_SHORTENED: Final = 0.4  # of words that can be
_SHORTENED_RARELY: Final = 0.12
_SLIPS: Final = 0.025  # of words
_DRAWN_OUT: Final = 0.06  # of sentences
_EMOJI: Final = 0.15  # of messages
_SLIP_CHARS_MIN: Final = 4

_SHORT: Final = {
    "you're": "ur", "you": "u", "your": "ur", "are": "r", "because": "cuz", "though": "tho", "please": "pls",
    "people": "ppl", "really": "rly", "tomorrow": "tmrw", "yesterday": "yday", "tonight": "tn", "thanks": "thx",
    "okay": "ok", "probably": "prob", "before": "b4", "about": "abt", "right now": "rn", "going to": "gonna",
    "want to": "wanna", "got to": "gotta", "kind of": "kinda", "by the way": "btw", "i don't know": "idk",
    "i know": "ik", "to be honest": "tbh", "weekend": "wkend", "definitely": "def", "something": "smth",
    "yeah": "ya", "favorite": "fav", "picture": "pic", "pictures": "pics", "photo": "pic", "birthday": "bday",
    "minutes": "min", "family": "fam",
}  # fmt: skip
_SHORT_RARELY: Final = {"for": "4", "to": "2", "see": "c", "and": "n", "with": "w", "great": "gr8"}
_SHORTENABLE: Final = re.compile(
    r"\b(?:" + "|".join(map(re.escape, sorted({**_SHORT, **_SHORT_RARELY}, key=len, reverse=True))) + r")\b"
)
_EMOJI_CHOICE: Final = ("😂", "😊", "❤️", "😭", "🙏", "😍", "👍", "🎉", "🔥", "👀", "lol", "haha", "lmao", ":)", "xD")
_FILLER_CHOICE: Final = ("haha", "ok", "yeah", "lol", "😂", "nice", "omg", "yup", "👍", "aww", "hmm", "oh", "yess", "k")
_END: Final = re.compile(r"[.!?…]+$")
_APOSTROPHE: Final = re.compile(r"(?<=\w)['\u2019](?=\w)")
_LAST_VOWEL: Final = re.compile(r"[aeouy](?=\W*$)")
_CONTENT_WORD: Final = re.compile(r"[^\W_]+")
_STEM_CHARS: Final = 5
_FUNCTION_WORDS: Final = frozenset(
    (  # noqa: SIM905 - eighty quoted words would be no easier to read
        "the a an i my me is was were are to of in for on with has have had at from by it and or that this they their "
        "he she his her be been can you your about as would will what did do does when how who where which many much "
        "so not no"
    ).split()
)
_ANSWER_WORD: Final = 3  # how many words of the question a word of the answer is worth


def is_between_people(conversation: LocomoConversation) -> bool:
    """Whether nobody in it is an assistant."""
    return not any(turn.speaker.casefold() == _ASSISTANT for session in conversation.sessions for turn in session.turns)


def as_chat(conversation: LocomoConversation) -> LocomoConversation:
    """The conversation as a chat; its questions stay, and their gold is the messages that hold the answers.

    Of the messages of a gold turn these are the ones with most words of the answer, then of the question; all of them
    where none has any. `unit_of` tells which messages are one piece of evidence.
    """
    sessions = tuple(_chat_session(conversation.name, session) for session in conversation.sessions)
    messages: dict[str, list[LocomoTurn]] = {}
    for session in sessions:
        for message in session.turns:
            messages.setdefault(unit_of(message.turn_id), []).append(message)
    questions = tuple(replace(question, gold=_gold(question, messages)) for question in conversation.questions)
    return replace(conversation, sessions=sessions, questions=questions)


def unit_of(turn_id: str) -> str:
    """The turn that a message was part of; any other turn is itself."""
    return turn_id.partition(_MESSAGE_MARK)[0]


def _chat_session(conversation_name: str, session: LocomoSession) -> LocomoSession:
    found: list[LocomoTurn] = []
    for turn in session.turns:
        chance = random.Random(f"{conversation_name}/{turn.turn_id}")
        if found and chance.random() < _FILLER:
            filler = chance.choice(_FILLER_CHOICE)
            found.append(replace(turn, turn_id=f"filler-{turn.turn_id}", text=filler, caption=""))
        texts = _messages(turn.text, chance)
        found += [
            replace(
                turn,
                turn_id=f"{turn.turn_id}{_MESSAGE_MARK}{number}",
                text=text,
                caption=turn.caption if number == len(texts) else "",
            )
            for number, text in enumerate(texts, 1)
        ]
    return replace(session, turns=tuple(found))


def _messages(text: str, chance: random.Random) -> list[str]:
    """A turn in messages; a blank one is one blank message."""
    groups: list[list[str]] = []
    for sentence in split_sentences(text):
        if groups and chance.random() >= _SPLIT:
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    typed = (
        " ".join(_typed(sentence, chance, is_last=sentence is group[-1]) for sentence in group).strip()
        for group in groups
    )
    return [message for message in typed if message] or [""]


def _typed(sentence: str, chance: random.Random, *, is_last: bool) -> str:
    """A sentence as it is typed, with what follows it inside its message."""
    words = sentence.lower()
    mark = match[0] if (match := _END.search(words)) else ""
    words = words.removesuffix(mark)
    end = "..." if chance.random() < _TRAILING_OFF else ""
    for asked in "?!":
        if asked in mark:
            end = asked if chance.random() < _MARK_KEPT else ""
            break
    if not is_last and not end:
        end = chance.choice(("", "", ",", "."))
    if chance.random() < _COMMAS_DROPPED:
        words = words.replace(",", "")
    words = _SHORTENABLE.sub(lambda match: _shortened(match[0], chance), words)
    if chance.random() < _APOSTROPHES_DROPPED:
        words = _APOSTROPHE.sub("", words)
    words = " ".join(_slip(word, chance) if chance.random() < _SLIPS else word for word in words.split())
    if chance.random() < _DRAWN_OUT:
        words = _LAST_VOWEL.sub(lambda match: 3 * match[0], words)
    if is_last and chance.random() < _EMOJI:
        end += " " + chance.choice(_EMOJI_CHOICE)
    return words + end


def _shortened(words: str, chance: random.Random) -> str:
    if words in _SHORT:
        return _SHORT[words] if chance.random() < _SHORTENED else words
    return _SHORT_RARELY[words] if chance.random() < _SHORTENED_RARELY else words


def _slip(word: str, chance: random.Random) -> str:
    """A letter doubled, left out, or in the place of the next one; never the first or the last."""
    if len(word) < _SLIP_CHARS_MIN or not word.isalpha():
        return word
    place = chance.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    return before + chance.choice((2 * letter + after, after, after[0] + letter + after[1:]))


def _gold(question: LocomoQuestion, messages: dict[str, list[LocomoTurn]]) -> frozenset[str]:
    return frozenset(
        message.turn_id
        for turn_id in question.gold
        for message in _holding(messages.get(turn_id, []), answer=_stems(question.answer), asked=_stems(question.text))
    )


def _holding(messages: Sequence[LocomoTurn], *, answer: set[str], asked: set[str]) -> list[LocomoTurn]:
    words = [_stems(f"{message.text} {message.caption}") for message in messages]
    held = [_ANSWER_WORD * len(answer & own) + len(asked & own) for own in words]
    return [message for message, count in zip(messages, held, strict=True) if count == max(held)]


def _stems(text: str) -> set[str]:
    return {word[:_STEM_CHARS] for word in _CONTENT_WORD.findall(text.lower()) if word not in _FUNCTION_WORDS}
