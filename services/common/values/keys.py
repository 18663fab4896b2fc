"""The words by which a statement finds others that it may supersede, or that may supersede it. Pure functions."""

from __future__ import annotations

from services.common.values.lives.beginnings import fields_told
from services.common.values.lives.everyday import commute_keys
from services.common.values.partings.given_up import parting_keys
from services.common.values.reading.lasting import as_present
from services.common.values.reading.rewording import in_plain_words
from services.common.values.replacement.assigned import assigned_keys
from services.common.values.replacement.contrasts import contrast_keys
from services.common.values.replacement.platforms import platform_keys
from services.common.values.sentences import content_words


def statement_keys(text: str) -> frozenset[str]:
    """Returns the content words of a statement, and what stands for them where two statements share no word.

    "I'm engaged to Tom" and "as of Saturday I'm a married woman" are both of the field `pair`.

    Args:
        text: A statement.
    """
    told = fields_told(text) | fields_told(in_plain_words(text)) | fields_told(as_present(text))
    named = {f"lives:{name}" for name in told} | commute_keys(text) | assigned_keys(text)
    return content_words(text) | named | parting_keys(text) | platform_keys(text) | contrast_keys(as_present(text))
