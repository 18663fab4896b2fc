"""Which summaries of a language model are taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.common.summaries import Summariser, SummarySettings
from services.common.tokens import token_counter
from services.episodic.summaries.checks import Fault, fault_of
from services.episodic.summaries.config import ModelSummarySettings
from tests.support.summaries import LONG, SUMMARY, WRITTEN

COUNTER = token_counter()
LENGTHS = SummarySettings()
SETTINGS = ModelSummarySettings()


def fault(
    summary: str,
    text: str = LONG,
    *,
    lengths: SummarySettings = LENGTHS,
    settings: ModelSummarySettings = SETTINGS,
) -> Fault | None:
    chosen = Summariser(COUNTER, lengths).summarise(text)
    assert chosen
    return fault_of(summary, text, chosen, COUNTER, lengths, settings)


def changed(old: str, new: str) -> str:
    assert old in SUMMARY
    return SUMMARY.replace(old, new)


def test_spec_2_4_a_summary_that_says_what_the_text_says_is_taken() -> None:
    assert 100 <= COUNTER.count_tokens(SUMMARY) <= 150
    assert fault(SUMMARY) is None
    assert fault("\n".join(WRITTEN)) is None


@pytest.mark.parametrize(
    "summary",
    [
        changed("They leave", "We leave"),
        changed("They leave", "However, they leave"),
        changed("The speaker likes", "In general the speaker likes"),
        changed("Marta's two cabins are", "Marta\u2019s two cabins are"),
        changed("After that they drive to Hull and", "Later they"),
        changed("They leave on 14 June from Rotterdam", "Harbour of departure on 14 June is Rotterdam"),
    ],
)
def test_spec_2_4_a_summary_may_use_its_own_words(summary: str) -> None:
    assert fault(summary) is None


@pytest.mark.parametrize("summary", ["", "  ", "They leave on 14 June.", SUMMARY + " " + LONG, " ".join(WRITTEN[:3])])
def test_spec_2_4_a_summary_of_fewer_or_more_tokens_is_not_taken(summary: str) -> None:
    assert fault(summary) is Fault.LENGTH


@pytest.mark.parametrize(
    "summary",
    [
        " ".join((*WRITTEN[:5], WRITTEN[0])),
        " ".join((*WRITTEN[:5], WRITTEN[0].replace("They leave", "We leave"))),
        "the ferry takes about eleven hours and " * 16,
    ],
)
def test_spec_2_4_a_repetitive_summary_is_not_taken(summary: str) -> None:
    assert fault(summary) is Fault.REPETITIVE


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("312.50", "312", Fault.NUMBER),
        ("14 June", "15 June", Fault.NUMBER),
        ("18:00", "6 pm", Fault.NUMBER),
        ("two cabins", "three cabins", Fault.NUMBER),
        ("eleven hours", "twelve hours", Fault.NUMBER),
        ("KX-4471", "KX-4472", Fault.NUMBER),
        ("until Sunday", "until next week", Fault.TIME),
        ("They leave", "They leave tomorrow, that is", Fault.TIME),
        ("until Sunday", "until Monday", Fault.NAME),
        ("23 June", "23 July", Fault.NAME),
        ("from Rotterdam", "from Amsterdam", Fault.NAME),
        ("Marta's two cabins", "Boris's two cabins", Fault.NAME),
        ("Peter Lindqvist", "Marta Lindqvist", Fault.NAME),
        ("Peter Lindqvist", "Lindqvist Peter", Fault.NAME),
        ("the ferry takes", "the Stena ferry takes", Fault.NAME),
        ("KX-4471", "XK-4471", Fault.NAME),
        ("The speaker likes to travel slowly", "The speaker suffers because colleagues demand overtime", Fault.WORDS),
        ("near the harbour", "near the harbour (https://bakery)", Fault.NO_PROSE),
        ("near the harbour", "near the <b>harbour</b>", Fault.NO_PROSE),
        ("near the harbour", "near the harbour, ask ann@bakery", Fault.NO_PROSE),
    ],
)
def test_spec_2_4_a_summary_that_says_what_the_text_does_not_say_is_not_taken(
    old: str, new: str, expected: Fault
) -> None:
    assert fault(changed(old, new)) is expected


def test_spec_2_4_a_summary_that_leaves_out_what_matters_is_not_taken() -> None:
    idle = (
        "The speaker has been thinking about the trip for a while and keeps going back and forth on the details. "
        "They would like to have some good weather for once, but you never know with the coast. There is a small "
        "bakery near the harbour that everybody seems to like, or so the speaker was told. The speaker is not sure "
        "yet what to pack and will find out when the time comes. In general the speaker likes to travel slowly and "
        "to look at things for as long as they please, and thanks for the walking through the options."
    )
    assert fault(idle) is Fault.DETAILS
    assert fault(idle, settings=replace(SETTINGS, details_share_min=0.0)) is None


def test_spec_2_4_a_text_without_details_needs_none() -> None:
    text = " ".join(f"we talked about the {word} and liked it a lot in the end." for word in LONG.lower().split()[:60])
    text = "".join(letter for letter in text if not letter.isdigit())
    chosen = Summariser(COUNTER).summarise(text)
    assert fault_of(
        "we liked it a lot in the end.", text, chosen, COUNTER, replace(LENGTHS, tokens_min=5), SETTINGS
    ) is None  # fmt: skip


def test_spec_2_4_a_text_without_spaces_between_words_keeps_its_sentences() -> None:
    text = "".join(f"\u6771\u4eac\u3067\u4f1a\u3046{n}\u3002" for n in range(200))
    assert fault("\u5927\u962a\u3067\u4f1a\u3046\u3002" * 2, text, lengths=replace(LENGTHS, tokens_min=5)) is not None
