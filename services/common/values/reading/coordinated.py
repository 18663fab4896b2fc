"""The second of two deeds of one person or thing: "Tom got married and moved out" tells that Tom moved out (SPEC 3.5).

Pure functions. Rules about events read a sentence from its subject on, and miss what stands behind "and".
"""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.reading.occasions import is_routine

_CHARS_MAX: Final = 200
_PARTS_MAX: Final = 3
_NAME: Final = r"(?-i:[A-Z])[\w'-]{1,30}(?:\s(?-i:[A-Z])[\w'-]{1,30})?"
_SUBJECT: Final = re.compile(
    rf"^(?P<who>{_NAME}|(?:the|my|our)\s(?:[\w-]{{1,20}}\s){{0,2}}?[\w-]{{2,20}}|we|i)(?P<aux>(?:'s|'ve|\shas|\shave)?)\s"
    r"(?=(?:(?:just|finally|now|also|recently|already|sadly)\s)?(?:[a-z]{2,15}ed|got|went|sold|bought|left|quit|broke|lost|found|took|gave|made|had|"
    r"met|came|told|said|let|put|threw|fell|felt|became|began|got|gone|taken|given|been|won|built|moved|handed|caught|hurt|cut|tore|burnt|signed)\b)",
    re.IGNORECASE,
)
_AND: Final = re.compile(r",?\sand\s(?:then\s)?(?=(?P<verb>[a-z]{2,15})\s?)", re.IGNORECASE)
_VERBS: Final = re.compile(
    r"^(?:(?:just|finally|now|also|then)\s)?(?:[a-z]{2,15}ed|is|has|got|went|sold|bought|left|quit|broke|lost|took|gave|made|had|came|put|threw|became|"
    r"began|won|built|runs|works|lives|stays|leads|teaches|studies|goes|plays|drives|takes|does|uses|swam|ran|moved|handed|"
    r"gone|taken|given|switched|shut|cut|let)\b",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:if|might|may|maybe|perhaps|would|could|should|wants?|wanted|hopes?|hoped|plans?|planned|almost|nearly|never|not|unless|says|said|"
    r"told|thinks?|thought|dream\w{0,5}|both|either|neither)\b|n't\b|\?",
    re.IGNORECASE,
)


@text_cache(2_048)
def later_deeds(text: str) -> tuple[str, ...]:
    """Returns what a sentence tells of its subject behind "and", each as a sentence; nothing where it is unsure.

    Args:
        text: A sentence.
    """
    plain = " ".join(text.replace("\u2019", "'").split())
    if len(plain) > _CHARS_MAX or _OPEN.search(plain):
        return ()
    subject = _SUBJECT.match(plain)
    if subject is None:
        return ()
    found: list[str] = []
    for match in _AND.finditer(plain, subject.end()):
        rest = plain[match.end() :]
        if _VERBS.match(rest) is not None:
            found.append(f"{subject['who']} {rest}")
    return tuple(deed for deed in found[:_PARTS_MAX] if not is_routine(deed))
