from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.summaries import Summariser, SummarySettings
from services.common.text import split_sentences
from services.common.tokens import token_counter

COUNTER = token_counter()
SUMMARISER = Summariser(COUNTER)

EXCHANGE = " ".join(
    [
        "Thanks for walking me through the options for the trip, that was really very useful to me.",
        "I have been thinking about it for a while now and I keep going back and forth on the details.",
        "We leave on 14 June from Rotterdam and the ferry takes about eleven hours.",
        "It would be nice to have some good weather for once, but you never know with the coast.",
        "Marta booked two cabins for 312.50 euros, and the booking code is KX-4471.",
        "There is a small bakery near the harbour that everybody seems to like, or so I have been told.",
        "After that we drive to Hull and stay with Peter Lindqvist until Sunday.",
        "I am not sure yet what to pack, but I suppose that I will find out when the time comes.",
        "The car must be back by 23 June at 18:00, otherwise they charge 90 euros a day.",
        "In general I like to travel slowly and to look at things for as long as I please.",
    ]
)
LONG = (
    EXCHANGE + " " + " ".join(f"It was a long talk about nothing in particular, part {word}." for word in "abcdefghij")
)


def test_spec_2_4_a_long_exchange_has_a_summary_of_100_to_150_tokens() -> None:
    summary = SUMMARISER.summarise(LONG)
    assert 100 <= COUNTER.count_tokens(summary) <= 150


def test_spec_2_4_a_summary_keeps_dates_numbers_and_names() -> None:
    summary = SUMMARISER.summarise(LONG)
    for detail in ("14 June", "Rotterdam", "312.50", "KX-4471", "Marta", "Peter Lindqvist", "23 June", "18:00"):
        assert detail in summary, detail


def test_spec_2_4_a_summary_is_whole_sentences_in_their_order() -> None:
    sentences = split_sentences(LONG)
    places = [sentences.index(sentence) for sentence in split_sentences(SUMMARISER.summarise(LONG))]
    assert places == sorted(places)
    assert len(places) >= 3


def test_spec_2_4_a_short_exchange_has_no_summary() -> None:
    assert SUMMARISER.summarise("We leave on 14 June from Rotterdam.") == ""


CHINESE = (
    "我们昨天下午在杭州的办公室里讨论了新的仓库计划。王芳说她会在三月十五日之前把合同寄给供应商。"
    "供应商要求预付百分之三十的货款、余款在验收之后支付。李明认为运输应该走铁路、因为公路在雨季经常中断。"
    "大家同意下周三再开一次会、届时财务部会带来新的预算。仓库的屋顶还需要修理、估计要花四万元。"
    "最后我们决定暂时不扩建停车场。"
)


def test_spec_2_4_a_text_of_few_characters_and_many_tokens_has_a_summary() -> None:
    assert len(CHINESE) < 300 <= COUNTER.count_tokens(CHINESE)
    summary = SUMMARISER.summarise(CHINESE)
    assert 100 <= COUNTER.count_tokens(summary) <= 150
    assert all(sentence in CHINESE for sentence in split_sentences(summary))


def test_spec_2_4_a_long_sentence_without_spaces_is_cut_between_characters() -> None:
    sentence = CHINESE.replace("。", "、")
    summary = SUMMARISER.summarise(sentence)
    assert sentence.startswith(summary)
    assert 100 <= COUNTER.count_tokens(summary) <= 150


@pytest.mark.parametrize("text", ["word " * 2_000, "x" * 9_000, "\u3042" * 9_000])
def test_spec_2_4_a_sentence_that_is_too_long_is_cut(text: str) -> None:
    summary = SUMMARISER.summarise(text)
    assert COUNTER.count_tokens(summary) <= 150
    assert text.startswith(summary)


@given(st.lists(st.text(alphabet="ab ZQ3.7!?\n", min_size=1, max_size=200), min_size=1, max_size=40))
def test_spec_2_4_no_summary_is_longer_than_the_setting(parts: list[str]) -> None:
    settings = SummarySettings(text_tokens_min=40, tokens_min=20, tokens_max=30)
    text = ". ".join(parts)
    summary = Summariser(COUNTER, settings).summarise(text)
    assert COUNTER.count_tokens(summary) <= 30
