"""What turns tell of preferences, and what a profile learns from them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.owners import InteractionId
from services.semantic.config import LearningSettings
from services.semantic.profile.learning import effective, learned_from, without_corrected
from services.semantic.profile.model import Lesson, Preferences
from services.semantic.profile.reading import preferences_stated, query_type_of, topics_of

SETTINGS = LearningSettings()
TURN = InteractionId("00000000-0000-4000-8000-000000000001")


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Please keep your answers short.", {"detail_level": "brief"}),
        ("Keep it brief, please.", {"detail_level": "brief"}),
        ("Could you give me more detailed explanations?", {"detail_level": "detailed"}),
        ("From now on, reply in French.", {"language": "fr"}),
        ("Please answer with bullet points.", {"response_format": "bullet_points"}),
        ("I would prefer paragraphs.", {"response_format": "paragraphs"}),
        ("Use footnotes for citations.", {"citation_style": "footnotes"}),
        ("Don't cite any sources.", {"citation_style": "none"}),
        ("Never use Wikipedia as a source.", {"excluded_sources": ["Wikipedia"]}),
        ("Please don't cite en.wikipedia.org. I prefer arxiv.org.",
         {"excluded_sources": ["en.wikipedia.org"], "preferred_sources": ["arxiv.org"]}),
        ("Be brief. No, give me detailed answers.", {"detail_level": "brief"}),
        ("Please keep your answers short from now on.", {"detail_level": "brief"}),
        ("Can you give me more detail in your answers?", {"detail_level": "detailed"}),
        ("Please make your answers longer.", {"detail_level": "detailed"}),
        ("Please answer me in French.", {"language": "fr"}),
        ("Can you speak German with me?", {"language": "de"}),
        ("Switch to English, please.", {"language": "en"}),
        ("Stop using bullet points.", {"response_format": "paragraphs"}),
        ("Never quote the New York Times, please.", {"excluded_sources": ["New York Times"]}),
        ("Please don't cite anything from reddit.com.", {"excluded_sources": ["reddit.com"]}),
        ("I like it when you use the BBC as a source.", {"preferred_sources": ["BBC"]}),
        ("Please keep the meeting short from now on.", {}),
        ("Keep it short when we meet on Monday.", {}),
        ("Give me more detail.", {}),
        ("Do you speak German?", {}),
        ("I speak German.", {}),
        ("Don't quote me on that.", {}),
        ("He prefers short answers.", {}),
        ("Don't keep it short.", {}),
        ("I like short walks.", {}),
        ("We talked in German yesterday.", {}),
        ("Never use a knife.", {}),
        ("Why did you cite example.org?", {}),
        ("Keep your answers short and use bullet points.",
         {"detail_level": "brief", "response_format": "bullet_points"}),
        ("Use bullet points, and please answer in French.", {"response_format": "bullet_points", "language": "fr"}),
        ("Keep it short; never use Wikipedia as a source.",
         {"detail_level": "brief", "excluded_sources": ["Wikipedia"]}),
        ("Never use Tom and Jerry as a source.", {"excluded_sources": ["Tom and Jerry"]}),
        ("He told me to sit down and keep it short.", {}),
        ("You may use Wikipedia again.", {"allowed_sources": ["Wikipedia"]}),
        ("Actually, it's fine to cite en.wikipedia.org.", {"allowed_sources": ["en.wikipedia.org"]}),
        ("I take back that you should not use Wikipedia, use it.", {"allowed_sources": ["Wikipedia"]}),
        ("I take back what I said about the New York Times.", {"allowed_sources": ["New York Times"]}),
        ("Never use Wikipedia as a source. Ok, you can use Wikipedia.", {"allowed_sources": ["Wikipedia"]}),
        ("You may not use Wikipedia.", {}),
        ("Can I use Wikipedia again?", {}),
    ],
)  # fmt: skip
def test_spec_3_10_preferences_are_read_from_what_a_user_asks_for(text: str, stated: dict[str, Any]) -> None:
    assert preferences_stated(text) == stated


def test_spec_3_10_questions_have_a_type_and_topics() -> None:
    assert [query_type_of(text) for text in ("Whose boat is it?", "Is it far?", "I see.")] == ["who", "yes_no", ""]
    assert topics_of("What did Ada's transformers learn, and which transformers?") == ("transformers", "ada", "learn")
    assert topics_of("How's the cookbook? Who's Ruth?") == ("cookbook", "ruth")


def lesson(feedback: int = 0, source: str = "s", **stated: Any) -> Lesson:
    return Lesson(TURN, stated or None, feedback, (source,))


def test_spec_3_10_the_latest_statement_holds() -> None:
    newest_first = [lesson(preferred_sources=["A"]), lesson(detail_level="brief"), lesson(excluded_sources=["a"])]
    learned = learned_from([*newest_first, lesson(detail_level="detailed")], SETTINGS).preferences
    assert learned == Preferences(detail_level="brief", preferred_sources=("A",))


@pytest.mark.parametrize(
    ("excluded", "allowed", "left"),
    [
        ("Wikipedia", "wikipedia", ()),
        ("https://en.wikipedia.org", "Wikipedia", ()),
        ("Wikipedia", "en.wikipedia.org", ()),
        ("wikipedia.org", "en.wikipedia.org", ("wikipedia.org",)),  # the rest of the domain stays excluded
        ("Wikipedia", "Britannica", ("Wikipedia",)),
    ],
)
def test_spec_3_10_a_source_that_may_be_used_again_is_no_longer_excluded(
    excluded: str, allowed: str, left: tuple[str, ...]
) -> None:
    lessons = [lesson(allowed_sources=[allowed]), lesson(excluded_sources=[excluded])]
    assert learned_from(lessons, SETTINGS).preferences == Preferences(excluded_sources=left)
    assert learned_from([*lessons[::-1]], SETTINGS).preferences.excluded_sources == (excluded,)


def test_spec_3_10_sources_judged_good_are_preferred_and_bad_ones_are_not_excluded() -> None:
    lessons = [*[lesson(1, "good")] * 3, *[lesson(-1, "bad")] * 9, lesson(1, "mixed"), lesson(-1, "mixed")]
    learned = learned_from(lessons, SETTINGS).preferences
    assert (learned.preferred_sources, learned.excluded_sources) == (("good",), ())


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("", None),  # all of the turn
        ("Reply in French.", {"detail_level": "brief", "excluded_sources": ["Wikipedia", "example.org"]}),
        ("Never use wikipedia as a source.", {"detail_level": "brief", "language": "fr",
                                              "excluded_sources": ["example.org"]}),
        ("Reply in German.", {"detail_level": "brief", "language": "fr",
                              "excluded_sources": ["Wikipedia", "example.org"]}),  # another sentence said otherwise
        ("I live in Ghent.", {"detail_level": "brief", "language": "fr",
                              "excluded_sources": ["Wikipedia", "example.org"]}),
    ],
)  # fmt: skip
def test_spec_3_12_what_was_read_in_a_corrected_sentence_is_taken_back(
    sentence: str, left: dict[str, Any] | None
) -> None:
    taught = lesson(1, "s", detail_level="brief", language="fr", excluded_sources=["Wikipedia", "example.org"])
    other = Lesson(InteractionId("00000000-0000-4000-8000-000000000002"), {"language": "fr"}, 0, ())
    found = without_corrected([other, taught], [(TURN, sentence)])
    assert found == [other, Lesson(TURN, left, 1, ("s",))]


def test_spec_3_12_a_turn_whose_only_source_is_corrected_states_none() -> None:
    taught = [lesson(excluded_sources=["Wikipedia"])]
    found = without_corrected(taught, [(TURN, "Never use Wikipedia as a source.")])
    assert learned_from(found, SETTINGS).preferences == Preferences()


@given(st.lists(st.sampled_from([-1, 0, 1])))
def test_spec_3_10_the_threshold_follows_judgements_within_its_bounds(feedback: list[int]) -> None:
    threshold = learned_from([lesson(value) for value in feedback], SETTINGS).fact_confidence_min
    assert SETTINGS.fact_confidence_low <= threshold <= SETTINGS.fact_confidence_high
    worse = learned_from([lesson(value) for value in (-1, *feedback)][:51], SETTINGS).fact_confidence_min
    if sum(map(abs, feedback)) < SETTINGS.threshold_judgements:
        assert worse >= threshold


def test_spec_3_10_bad_judgements_raise_the_threshold_and_good_ones_lower_it_again() -> None:
    bad = [lesson(-1)] * 5
    assert learned_from(bad, SETTINGS).fact_confidence_min == pytest.approx(0.6)
    assert learned_from([*[lesson(1)] * 3, *bad], SETTINGS).fact_confidence_min == pytest.approx(0.54)
    assert learned_from([lesson(-1)] * 90, SETTINGS).fact_confidence_min == 0.8


def test_spec_3_10_what_was_set_takes_precedence() -> None:
    stated = Preferences(language="en", preferred_sources=("Wikipedia",), excluded_sources=("blog",))
    learned = Preferences(
        language="de", detail_level="brief", preferred_sources=("Blog", "x"), excluded_sources=("wikipedia", "y")
    )
    assert effective(stated, learned) == Preferences(
        language="en", detail_level="brief", preferred_sources=("Wikipedia", "x"), excluded_sources=("blog", "y")
    )
