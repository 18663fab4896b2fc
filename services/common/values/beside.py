"""Whether what was read in a sentence is beside what changed in it."""

from __future__ import annotations

from services.common.values.sentences import content_words


def is_beside(read: str, sentence: str, changed: str, *, subject: str = "") -> bool:
    """Returns whether something repeats only words of a sentence that a change of it is not about.

    "I'm allergic to nuts" is beside "the builder comes on Tuesday", of "I'm allergic to nuts, and the builder comes on
    Monday". Where the change has no word of the sentence, nobody knows what it is about, and nothing is beside it.

    Args:
        read: What was read in the sentence.
        sentence: As it was said.
        changed: What is said in its place, or the words of it that are wrong.
        subject: Whom it was read of, in words that the sentence need not have.
    """
    words, said, named = content_words(read), content_words(sentence), content_words(changed)
    if not words - content_words(subject) <= said:
        return False
    return words.isdisjoint(named) and not named.isdisjoint(said - words)
