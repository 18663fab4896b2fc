"""Of whom turns with a name are."""

from __future__ import annotations

import pytest

from services.gateway.erasure.followups import Line
from services.gateway.erasure.namesakes import Verdict, persons_of, verdicts
from services.gateway.erasure.queries import read
from services.gateway.erasure.relations import mentions

MEANT, ANOTHER, UNSURE = Verdict.MEANT, Verdict.ANOTHER, Verdict.UNSURE


def decided(query: str, *said: str | tuple[str, str], kept: tuple[str, ...] = ()) -> list[Verdict | None]:
    """Of whom turns are; a tuple is a conversation and a text."""
    lines = [
        Line(str(n), *((one[0], n, "Ada", one[1]) if isinstance(one, tuple) else ("c1", n, "Ada", one)))
        for n, one in enumerate(said)
    ]
    (person,) = persons_of(query, read(query), kept)
    found = verdicts(person, {line.turn_id: line.text for line in lines}, lines, 4)
    return [found.get(line.turn_id) for line in lines]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Martha next door feeds the cat.", "neighbour"),
        ("Our new neighbour Martha sings.", "neighbour"),
        ("our neighbour is called Martha", "neighbour"),
        ("I met Martha, our new neighbour, today.", "neighbour"),
        ("Martha lives across the street.", "neighbour"),
        ("Martha (next door) sings.", "neighbour"),
        ("Martha, my boss's sister, is odd.", "sister"),
        ("Martha from accounting rang.", "colleague"),
        ("Martha works with me.", "colleague"),
        ("My gran Martha knits.", "grandmother"),
        ("my mother in law martha rang", "mother-in-law"),
        ("My glazier Martha is late.", "glazier"),
        ("Martha the tortoise is forty.", "tortoise"),
        ("Martha, who is my boss, has gone.", "boss"),
        ("For my birthday Martha gave me a scarf.", ""),
        ("I told my mother Martha was ill.", ""),
        ("Martha, my sister and I went out.", ""),
        ("I gave Martha the key.", ""),
    ],
)
def test_a_text_says_who_somebody_is(text: str, relation: str) -> None:
    (found,) = mentions(text, {"martha"})
    assert found.relations == ({relation} if relation else set())


@pytest.mark.parametrize(
    "query", ["our neighbour Martha", "Martha next door", "our neighbour martha", "Martha, my neighbour"]
)
def test_spec_3_13_somebody_of_another_relation_stays(query: str) -> None:
    assert decided(
        query,
        "Martha next door feeds the cat.",
        "Our neighbour Martha has our spare key.",
        "My grandmother Martha was born in 1931.",
        "Dr Martha Lee prescribed drops.",
        "My friend's boss Martha is strict.",
    ) == [MEANT, MEANT, ANOTHER, ANOTHER, ANOTHER]


def test_spec_3_13_a_turn_without_a_relation_is_of_whom_its_conversation_spoke_last() -> None:
    assert decided(
        "our neighbour Martha",
        "Martha next door feeds the cat.",
        "Martha is away in May.",
        "My aunt Martha sends us jam.",
        "Martha picks the plums herself.",
    ) == [MEANT, MEANT, ANOTHER, ANOTHER]


def test_spec_3_13_where_it_is_open_who_is_meant_a_turn_stays_as_unsure() -> None:
    said = [("c1", "Martha next door has a new hip."), ("c2", "Martha was a wonderful dancer.")]
    assert decided("our neighbour Martha", *said) == [MEANT, MEANT]
    assert decided("our neighbour Martha", *said, ("c3", "My aunt Martha knits.")) == [MEANT, UNSURE, ANOTHER]


def test_spec_3_13_a_turn_before_it_says_of_whom_a_turn_is() -> None:
    assert decided("our neighbour Martha", "My gran turns 93.", "Martha was born in Oban.") == [None, UNSURE]
    assert decided("my gran Martha", "My gran turns 93.", "Martha was born in Oban.") == [None, MEANT]


@pytest.mark.parametrize("kept", ["my grandmother", "the one who is my grandmother", "my grandmother Martha"])
def test_spec_3_13_who_is_excepted_stays(kept: str) -> None:
    said = ["Martha next door sings.", "My grandmother Martha sang.", "Martha was born in Oban."]
    assert decided("Martha", *said, kept=(kept,)) == [MEANT, ANOTHER, ANOTHER]


def test_spec_3_13_a_relation_of_somebody_else_is_not_the_speakers() -> None:
    said = ["My sister Martha is a nurse.", "Martha, my boss's sister, is odd.", "My wife's sister Martha cooks."]
    assert decided("my sister Martha", *said) == [MEANT, UNSURE, UNSURE]


def test_a_name_alone_means_everybody_of_it() -> None:
    assert persons_of("Martha", read("Martha"), ()) == []


def test_spec_3_13_the_whole_name_says_who_is_meant() -> None:
    said = ("My uncle Rob turns 60.", "Rob Castell sits opposite me.", ("c2", "Rob's desk is a mess."))
    assert decided("my colleague Rob Castell", *said) == [ANOTHER, MEANT, UNSURE]


def test_who_sits_opposite_may_be_a_colleague_or_a_neighbour() -> None:
    (colleague,) = mentions("Rob sits opposite me.", {"rob"})
    (neighbour,) = mentions("Rob lives opposite.", {"rob"})
    assert not colleague.relations
    assert neighbour.relations == {"neighbour"}
