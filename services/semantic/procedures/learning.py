"""What rewritings can be learned: from a query that was put in other words, and from abbreviations that turns define.

Pure functions. They propose a rewriting only where little else can be meant: what a query asks for must stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from services.semantic.config import ProcedureSettings
from services.semantic.procedures.model import ProcedureDraft, ProcedureKind

_WORD: Final = re.compile(r"[^\W_]+(?:[-'’.+#][^\W_]+)*[+#]*")  # noqa: RUF001 - an apostrophe of typography
_SHORT: Final = re.compile(r"\(\s*(?P<short>[A-Z][A-Za-z0-9&]{1,7}?)s?\s*\)")
_LONG: Final = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")  # noqa: RUF001
_FUNCTION_TEXT: Final = """
a an the this that these those my your his her its our their i you he she it we they me him them us who whom whose what
which when where why how is are was were be been am do does did have has had will would can could shall should may might
must and or but nor if of in on at to from by for with about as into over under after before between than then so too
very just only also all any some each every other another there here please yes
"""
_NEGATIONS: Final = frozenset(("not", "no", "never", "none", "without", "cannot", "nor"))
_CONTRACTED: Final = ("n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")
_FUNCTION_WORDS: Final = frozenset(_FUNCTION_TEXT.split()) | _NEGATIONS


def rephrased(bad: str, good: str, *, scope_key: str, settings: ProcedureSettings) -> ProcedureDraft | None:
    """The rewriting that leads from a query without success to one with success.

    The two must share words on at least one side of the one place where they differ, so that the rest of the query
    shows that the same was asked. What is replaced has a content word; numbers and negations stay what they are.

    Args:
        bad: The query that was judged bad.
        good: The query after it that was judged good.
        scope_key: Of the reader of both.
        settings: Bounds.
    """
    before, after = _words(bad), _words(good)
    folded, other = [w.casefold() for w in before], [w.casefold() for w in after]
    start = _shared(folded, other)
    end = _shared(folded[start:][::-1], other[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    kept = [word for word in (*folded[:start], *folded[len(folded) - end :]) if word not in _FUNCTION_WORDS]
    if not kept or not old or not new:
        return None
    if len(old) > settings.trigger_words_max or len(new) > settings.action_words_max:
        return None
    if not _says_something(old) or not _says_something(new) or _guarded(old) != _guarded(new):
        return None
    if _is_other_name(old, new):
        return None
    return ProcedureDraft(ProcedureKind.QUERY_REWRITING, " ".join(old), " ".join(new), scope_key=scope_key)


def defined(text: str, *, scope_key: str, settings: ProcedureSettings) -> list[ProcedureDraft]:
    """The abbreviations that a text defines by putting them in brackets: "machine learning (ML)".

    The words before the bracket must begin with the letters of the abbreviation, one word for each letter. The
    rewriting expands: memories may hold either form.
    """
    found: dict[str, ProcedureDraft] = {}
    for match in _SHORT.finditer(text[: settings.definition_chars_max]):
        short = match["short"].replace("&", "")
        letters = [letter for letter in short if letter.isupper() or letter.isdigit()]
        if len(letters) < 2:
            continue
        clause = re.split(r"[.;:!?\n()]", text[: match.start()])[-1]
        words = [m[0] for m in _LONG.finditer(clause)]
        long = _initials_of(words, [letter.casefold() for letter in letters])
        if long:
            draft = ProcedureDraft(
                ProcedureKind.QUERY_REWRITING, match["short"], " ".join(long), expands=True, scope_key=scope_key
            )
            found.setdefault(draft.identity, draft)
    return list(found.values())


def is_abbreviation(draft: ProcedureDraft) -> bool:
    """Whether the action spells out the trigger by its letters: "machine learning" for "ML"."""
    letters = [letter for letter in draft.trigger.casefold() if letter.isalnum()]
    words = draft.action.split()
    return 2 <= len(letters) <= len(words) and _initials_of(words, letters) == words


def names_words(query: str, text: str) -> bool:
    """Whether a query has the words of a text, one after the other."""
    words, wanted = ([word.casefold() for word in _words(one)] for one in (query, text))
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1)) and bool(wanted)


def _initials_of(words: Sequence[str], letters: Sequence[str]) -> list[str]:
    """The last words that begin with the letters, in order; small words between them count for no letter."""
    taken: list[str] = []
    left = list(letters)
    for word in reversed(words):
        if left and word[0].casefold() == left[-1]:
            left.pop()
        elif not taken or word.casefold() not in _FUNCTION_WORDS:
            return []
        taken.append(word)
        if not left:
            return taken[::-1]
    return []


def _words(text: str) -> list[str]:
    return [match[0] for match in _WORD.finditer(text)]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _says_something(words: Sequence[str]) -> bool:
    return any(word.casefold() not in _FUNCTION_WORDS for word in words)


def _guarded(words: Sequence[str]) -> tuple[list[str], bool]:
    """What a rewriting must not change: numbers, and whether something is negated."""
    numbers = sorted(number for word in words for number in re.findall(r"\d+", word))
    folded = [word.casefold() for word in words]
    return numbers, any(
        word in _NEGATIONS or word.endswith(("n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")) for word in folded
    )


def _is_other_name(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether names are swapped: "Anna" to "Ben" asks for somebody else, "ML" to "Machine Learning" does not."""
    names = [word for word in old if word[:1].isupper() and not word.isupper()]
    return bool(names) and all(word[:1].isupper() for word in new)
