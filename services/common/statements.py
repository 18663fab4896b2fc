"""What kind of statement a turn makes, by rules for English that the write gate and importance share."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

_TEXT_CHARS: Final = 2_000
"""How much of a text is read: enough to find what it is about, and bounds the time."""
_APOSTROPHE: Final = "['\u2019]"
_I_WILL: Final = rf"(?:i|we)(?:{_APOSTROPHE}(?:ll|m|re|ve)| will| am| are| have| had)?"
_RELATIVES: Final = (
    r"(?:mother|mom|mum|father|dad|parents?|brother|sister|siblings?|son|daughter|kids?|child(?:ren)?"
    r"|baby|wife|husband"
    r"|spouse|partner|girlfriend|boyfriend|fianc[e\u00e9]+|grand(?:mother|father|ma|pa|son|daughter)"
    r"|uncle|aunt|cousin"
    r"|nephew|niece|family|friends?|best friend|roommate|neighbou?r|boss|manager|colleague|dog|cat|pet"
    r"|puppy|kitten)"
)


class Statement(IntEnum):
    """Kinds of statements."""

    REQUEST = 1  # asks to remember something, or to do so always
    CORRECTION = 2  # takes back or corrects what was said
    DECISION = 3  # decides, plans or promises something
    PERSONAL = 4  # about the speaker, their people, health, home, work or taste
    DETAIL = 5  # holds a number, a date, a time or a name
    EMOTION = 6  # says how somebody feels


_PATTERNS: Final = {
    Statement.REQUEST: re.compile(
        r"\b(?:remember|memori[sz]e|note|keep in mind|bear in mind|don.?t forget|make a note|take note"
        r"|write (?:this|that|it) down|save (?:this|that)|store (?:this|that)|for the record)"
        r"(?= (?:that|this|these|my|me|our|the|to|of|for|i|we|it|down|when)\b|[:,-])"
        r"|\b(?:remember|note|memori[sz]e) (?:this|that|it)\b|\bfor future reference\b|\bfor the record\b"
        r"|\b(?:from now on|going forward|in (?:the )?future|next time)\b[^.!?\n]{0,40}"
        r"\b(?:always|never|please|use|call|answer|reply|don.?t|do)\b"
        r"|\bi want you to (?:know|remember)\b|\byou should (?:know|remember)\b|^(?:always|never) \w",
        re.IGNORECASE,
    ),
    Statement.CORRECTION: re.compile(
        r"^(?:no|nope|wait|sorry|actually|correction|oops)\b[,:;.! -]+(?=\w+ \w+)"
        rf"|\b(?:i meant|i mean|i misspoke|i was wrong|that{_APOSTROPHE}?s (?:wrong|not right|not true"
        rf"|incorrect|outdated)"
        r"|not anymore|no longer|any ?more\b|correction|scratch that|instead of|rather than|changed my mind"
        r"|turns out"
        r"|used to|forget what i said|it should be|should have been)\b",
        re.IGNORECASE,
    ),
    Statement.DECISION: re.compile(
        r"\b(?:decid(?:e|ed|ing)|decision|agreed|committed|commit to|promis(?:e|ed)|resolved to|chose|chosen|opted"
        r"|settled on|signed up|booked|scheduled|enrolled|quit|resigned|accepted|turned down|cancel(?:l?ed)?"
        r"|postponed"
        r"|deadline|made up my mind|going with|go with|let.?s (?:go|use|do|meet|keep|move|try|start|stick|make|not)"
        r"|plan(?:ning)? (?:to|on)|count on me|you have my word|will do|signed (?:the|a|up)|final answer|deal)\b"
        rf"|\b{_I_WILL} (?:going to|gonna|planning|determined|about to|never|always|definitely|finally)\b"
        rf"|\b(?:i|we)(?:{_APOSTROPHE}ll| will| won{_APOSTROPHE}t| shall) (?!be (?:happy|glad) )\w+",
        re.IGNORECASE,
    ),
    Statement.PERSONAL: re.compile(
        rf"\b(?:my|our) (?:\w+ ){{0,2}}?{_RELATIVES}\b"
        r"|\bmy (?:name|birthday|anniversary|age|address|phone|job|work|boss|career|company|house|home"
        r"|apartment|flat|car|health"
        r"|allerg\w+|doctor|diet|medication|diagnosis|degree|school|university|hometown|faith|religion|hobby"
        r"|hobbies|dream"
        r"|goal|fear|favou?rite|wedding|childhood|hometown|password|salary|pronouns|passion|life|husband|wife|ex)\b"
        rf"|\b(?:i|we)(?:{_APOSTROPHE}m| am| was|{_APOSTROPHE}ve been| have been|{_APOSTROPHE}re| are| were)"
        r" (?:an? |\w+ed\b|\w+ing\b|allergic|vegan|vegetarian|married|single|divorced|pregnant|from|born"
        r"|diabetic|scared|afraid"
        r"|in love|proud|worried|sick|\d+)"
        r"|\bi (?:live|work|study|studied|grew up|was born|moved|come from|suffer|have (?:a|an|two|three|four"
        r"|been)|own|married|met"
        r"|love|like|enjoy|hate|dislike|prefer|can.?t stand|adore|need|miss|believe|want|dream|speak|play"
        r"|drive|take|went|lost"
        r"|got|bought|started|joined|adopted|told)\b"
        r"|\b(?:love you|miss you|means a lot to me|between us|our (?:relationship|friendship|marriage"
        r"|engagement))\b",
        re.IGNORECASE,
    ),
    Statement.DETAIL: re.compile(
        r"\d|\b(?:[Jj]anuary|[Ff]ebruary|March|[Aa]pril|June|July|[Aa]ugust|[Ss]eptember|[Oo]ctober"
        r"|[Nn]ovember|[Dd]ecember"
        r"|(?:[Mm]on|[Tt]ues|[Ww]ednes|[Tt]hurs|[Ff]ri|[Ss]atur|[Ss]un)day|[Yy]esterday|[Tt]omorrow"
        r"|[Tt]onight|[Nn]oon|[Mm]idnight"
        r"|[Oo]ne|[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en|[Ee]leven|[Tt]welve"
        r"|[Tt]wenty|[Tt]hirty"
        r"|[Hh]undred|[Tt]housand|[Mm]illion|[Tt]wice|[Dd]ozen|(?:[Ll]ast|[Nn]ext) (?:week|month|year|spring"
        r"|summer|fall|winter))\b"
        r"|(?<=[a-z,;:] )(?!I\b)[A-Z][\w'-]+"
    ),
    Statement.EMOTION: re.compile(
        r"\b(?:so|really|very|absolutely|incredibly|extremely|truly) (?:\w+ )?(?:happy|sad|glad|angry|mad"
        r"|upset|excited|proud|scared"
        r"|afraid|worried|nervous|anxious|lonely|tired|grateful|thankful|disappointed|hurt|ashamed|jealous"
        r"|relieved|stressed"
        r"|frustrated|overwhelmed|touched|moved|heartbroken|thrilled|down)\b"
        r"|\b(?:heartbroken|devastated|thrilled|ecstatic|overjoyed|terrified|furious|miserable|depressed"
        r"|grieving|grief|panic\w*"
        r"|cried|crying|tears|in love|falling apart|lonely|hopeless|humiliated|ashamed|desperate|mourning"
        r"|anxiety|nightmare"
        r"|best day|worst day|broke my heart|over the moon|can.?t stop (?:crying|smiling|thinking)|(?:i"
        r"|we) (?:hate|adore)"
        r"|passed away|died|funeral|miscarriage|burn(?:ed|t) out|freaking out|sobbing|proudest|happiest|saddest)\b"
        rf"|\b(?:i|we)(?:{_APOSTROPHE}m| am| was| feel| felt|{_APOSTROPHE}re| are| were"
        rf"|{_APOSTROPHE}ve been feeling)"
        r" (?:\w+ )?(?:happy|sad|angry|mad|upset|excited|proud|scared|afraid|worried|nervous|anxious|lonely"
        r"|exhausted|grateful|thankful"
        r"|disappointed|hurt|guilty|ashamed|jealous|relieved|stressed|frustrated|overwhelmed|heartbroken"
        r"|thrilled|terrified"
        r"|miserable|depressed|devastated|furious|numb|broken|blessed)\b",
        re.IGNORECASE,
    ),
}


def makes(statement: Statement, text: str) -> bool:
    """Whether the first 2,000 characters of a text make such a statement."""
    return _PATTERNS[statement].search(text, 0, _TEXT_CHARS) is not None
