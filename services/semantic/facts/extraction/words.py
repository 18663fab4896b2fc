"""Words by which a clause is read: how it is meant, and what colours it without saying anything."""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction.lexicon import word_set

CONDITIONS: Final = word_set("if unless whether until till before once lest provided")
"""Conjunctions of what need not be so."""
HEDGES: Final = word_set(
    """
    maybe perhaps probably possibly supposedly allegedly presumably hopefully mightily apparently
    """
)
HEDGED_MODALS: Final = word_set("might may could")
CONDITIONAL_MODALS: Final = word_set("would 'd should ought wo")
SAYING: Final = word_set(
    """
    say think believe claim tell assume guess hear suspect insist swear joke suggest reckon figure fear worry
    hope wish imagine pretend suppose doubt wonder dream ask bet expect argue write text warn deny consider
    """
)
"""What follows is claimed by the subject."""
OWN_HEDGES: Final = word_set(
    """
    think believe guess assume suspect reckon figure suppose bet expect wonder doubt worry fear consider hope
    """
)
OWN_UNREAL: Final = word_set("wish imagine pretend dream joke lie ask")
TRUE: Final = word_set("true right correct accurate case truth fact so")
FALSE: Final = word_set("false untrue wrong incorrect inaccurate lie myth rumour rumor nonsense misunderstanding")
"""What "it is ... that" says of a clause that is so, and of one that is not."""
FILLERS: Final = word_set(
    """
    actually really just also still currently now even finally already recently absolutely totally truly
    honestly definitely simply basically literally so certainly particularly especially genuinely completely
    quite happily presently bloody obviously sadly unfortunately officially luckily fortunately lately
    nowadays anyway however then too though either instead yet again therefore thus ultimately importantly
    personally seriously naturally clearly incidentally meanwhile btw lol haha tbh imo please thanks plus well
    kinda sorta pretty
    """
)
"""Adverbs that add nothing to a fact."""
TAIL: Final = (
    "at the moment", "right now", "these days", "so far", "as well", "by the way", "to be honest", "if i'm honest",
    "you know", "of course", "for now", "at all", "all over again", "for some reason", "like i said", "thank you",
    "if possible", "with you", "for you", "for sure", "for real", "so much", "just now", "a lot", "very much",
    "in case you wondered", "and all", "or something", "and stuff", "and so on", "after all", "as always", "as usual",
    "for the record", "hands down",
)  # fmt: skip
"""Phrases that trail after what a clause says."""
FUTURE_MODALS: Final = frozenset(["will", "'ll", "shall"])
FREQUENCY: Final = word_set(
    """
    every each daily weekly monthly weekends mondays tuesdays wednesdays thursdays fridays saturdays sundays
    twice once
    """
)
VAGUE: Final = word_set(
    """
    it this that these those them him her he she they there here one ones some any something someone anything
    nothing everything all so such what how you your yours both none more less enough lots myself somebody
    anyone everyone stuff things thing way lot bit idea same other others
    """
)
"""Words that name nothing outside of their conversation."""
BARE_STATES: Final = word_set(
    "allergic vegetarian vegan pescatarian pregnant "
    "married single divorced engaged retired diabetic lactose intolerant born"
)
"""What a sentence without subject and verb says of the speaker: "Allergic to nuts."."""
BARE_DEEDS: Final = word_set(
    "move relocate bear base marry engage divorce retire join start quit live work adopt buy finish"
)
"""Participles that begin a sentence about the speaker: "Moved to Ghent!"."""
TIME_WORDS: Final = (
    "day", "tonight", "tomorrow", "week", "month", "year", "morning", "evening", "night", "spring", "summer", "autumn",
    "fall", "winter", "ago", "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "19", "20",
)  # fmt: skip
"""Parts of words that name a time."""
_SHIFTING: Final = word_set(
    """
    move shift push postpone delay reschedule change bring put adjourn defer bump switch transfer extend prolong renew
    """
)
_ASKING: Final = word_set("promise agree ask tell want need offer commit plan")
_ARRANGING: Final = word_set("set fix schedule book reserve arrange plan sign confirm announce")
_CHANGING: Final = word_set("raise increase lower reduce cut drop hike")
_TAKING: Final = word_set(
    "find get land secure choose pick accept buy order invite register enrol enroll hire rent lease let"
)
TIMES_SET: Final = {
    "to": _SHIFTING | _ARRANGING | _CHANGING,
    "from": _SHIFTING | _ASKING | _ARRANGING | _CHANGING | _TAKING,
    "for": _SHIFTING | _ASKING | _ARRANGING | _TAKING,
    "until": _SHIFTING | _ASKING | _ARRANGING,
    "till": _SHIFTING | _ASKING | _ARRANGING,
    "by": _ASKING,
}  # fmt: skip
"""Verbs that set a time, by the preposition that leads to it: "raised the rent from March" says since when it holds."""
