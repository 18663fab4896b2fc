"""What the tests of LangGraph's PostgreSQL and SQLite stores check, of both stores: searches by meaning.

Their embeddings count letters; the gateway's model understands words, so texts are sentences here.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from langgraph.store.base import BaseStore, PutOp, SearchItem

OpenStore = Callable[..., BaseStore]

ANIMALS = ("animals",)
SENTENCES = {
    "otter": "Otters hold hands while they sleep on the river.",
    "owl": "Owls hunt mice at night without a sound.",
    "bee": "Bees dance to show the way to flowers.",
}


def put_texts(store: BaseStore, texts: dict[str, str]) -> None:
    store.batch([PutOp(ANIMALS, key, {"text": text}) for key, text in texts.items()])


def score_of(found: list[SearchItem], key: str) -> float:
    (score,) = [item.score for item in found if item.key == key]
    assert score is not None
    return score


def test_spec_9_4_ported_whole_values_are_found_by_default(any_store: BaseStore) -> None:
    put_texts(any_store, SENTENCES)
    any_store.put(ANIMALS, "fox", {"habits": "Foxes dig dens in the forest."})
    any_store.put(ANIMALS, "cat", {"about": {"sound": "Cats purr when they are content."}})
    for query, key in (
        ("night birds that catch rodents", "owl"),
        ("insects and blossoms", "bee"),
        ("where do foxes live", "fox"),
        ("purring", "cat"),
    ):
        found = any_store.search(ANIMALS, query=query)
        assert found[0].key == key, query
        assert len(found) == 5
        scores = [score_of(found, item.key) for item in found]
        assert scores == sorted(scores, reverse=True)


def test_spec_9_4_ported_a_replaced_item_is_found_by_its_new_text(any_store: BaseStore) -> None:
    put_texts(any_store, SENTENCES)
    query = "what do otters do on the river"
    before = any_store.search(ANIMALS, query=query)
    assert before[0].key == "otter"
    any_store.put(ANIMALS, "otter", {"text": "The museum opens at ten."})
    after = any_store.search(ANIMALS, query=query)
    assert score_of(after, "otter") < score_of(before, "otter")
    opened = any_store.search(ANIMALS, query="when does the museum open")
    assert opened[0].key == "otter"
    assert score_of(opened, "otter") > score_of(after, "otter")
    any_store.put(ANIMALS, "hidden", {"text": "The museum opens at ten."}, index=False)
    assert "hidden" not in [item.key for item in any_store.search(ANIMALS, query="when does the museum open")]
    any_store.delete(ANIMALS, "otter")
    assert "otter" not in [item.key for item in any_store.search(ANIMALS, query=query)]


@pytest.mark.parametrize("refresh_ttl", [True, False])
def test_spec_9_4_ported_filters_narrow_a_search_by_meaning(any_store: BaseStore, *, refresh_ttl: bool) -> None:
    for key, text, color, price in (
        ("cherry", "a ripe cherry, a fruit", "red", 4.5),
        ("bus", "a double-decker bus in London", "red", 3.0),
        ("pear", "a juicy pear, a fruit", "green", 4.0),
        ("tram", "a tram on rails in the city", "blue", 3.5),
    ):
        any_store.put(("things",), key, {"text": text, "color": color, "price": price}, ttl=5)

    def found(query: str, condition: dict[str, object]) -> list[str]:
        items = any_store.search(("things",), query=query, filter=condition, refresh_ttl=refresh_ttl)
        return [item.key for item in items]

    assert found("fruit to eat", {"color": "red"}) == ["cherry", "bus"]
    assert found("public transport", {"color": "red"}) == ["bus", "cherry"]
    by_rail = found("railway vehicles", {"price": {"$gt": 3.2}})
    assert by_rail[0] == "tram"
    assert sorted(by_rail) == ["cherry", "pear", "tram"]
    assert found("fruit to eat", {"price": {"$gte": 4.0}, "color": "green"}) == ["pear"]


def test_spec_9_4_ported_pages_of_a_search_by_meaning_follow_one_another(any_store: BaseStore) -> None:
    put_texts(any_store, {f"k{i}": f"Chapter {i} of a book about rivers." for i in range(5)})
    every = any_store.search(ANIMALS, query="a book", limit=10)
    assert len(every) == 5
    pages = [any_store.search(ANIMALS, query="a book", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert [item.key for page in pages for item in page] == [item.key for item in every]


def test_spec_9_4_ported_queries_may_be_empty_long_or_odd(any_store: BaseStore) -> None:
    put_texts(any_store, {"bee": SENTENCES["bee"]})
    exact = score_of(any_store.search(ANIMALS, query="Bees dance to show the way to flowers"), "bee")
    for without in ("", None):
        found = any_store.search(ANIMALS, query=without)
        assert [(item.key, item.score) for item in found] == [("bee", None)]
    for query in ("motor " * 200, "bees!@#$%^&*()[]{}<>;:'\"", "\u2603"):
        found = any_store.search(ANIMALS, query=query)
        assert [item.key for item in found] == ["bee"]
        assert score_of(found, "bee") < exact


def test_spec_9_4_ported_each_field_of_the_store_is_searched(open_store: OpenStore) -> None:
    store = open_store(fields=["title", "summary", "notes"])
    store.put(ANIMALS, "one", {"summary": "glaciers", "color": "violet", "notes": "bakery"})
    store.put(ANIMALS, "two", {"title": "tennis", "summary": "copper", "color": "orchid", "notes": "glaciers"})
    both = store.search(ANIMALS, query="glaciers")
    exact = score_of(both, "one")
    assert exact == pytest.approx(score_of(both, "two"), abs=1e-3)
    for query, key, other in (("tennis", "two", "one"), ("bakery", "one", "two")):
        found = store.search(ANIMALS, query=query)
        assert [item.key for item in found] == [key, other]
        assert score_of(found, key) == pytest.approx(exact, abs=1e-3)
        assert score_of(found, other) < exact - 0.1
    assert all(score_of(store.search(ANIMALS, query="orchid"), key) < exact - 0.1 for key in ("one", "two"))


def test_spec_9_4_ported_a_put_chooses_its_own_fields(open_store: OpenStore) -> None:
    store = open_store(fields=["nowhere"])
    store.put(ANIMALS, "one", {"a": "glaciers", "b": "tennis", "c": "violet"}, index=["a", "b"])
    store.put(ANIMALS, "two", {"a": "harbour", "b": "tennis", "d": "bakery"}, index=["b", "d"])
    assert [item.key for item in store.search(ANIMALS, query="glaciers")] == ["one", "two"]
    assert [item.key for item in store.search(ANIMALS, query="bakery")] == ["two", "one"]
    both = store.search(ANIMALS, query="tennis")
    assert score_of(both, "one") == pytest.approx(score_of(both, "two"), abs=1e-3)
    unindexed = store.search(ANIMALS, query="violet")
    assert len(unindexed) == 2
    assert all(score_of(unindexed, item.key) < 0.9 for item in unindexed)
    store.put(ANIMALS, "three", {"a": "meadow"}, index=False)
    assert sorted((item.key, item.score) for item in store.search(ANIMALS)) == [
        ("one", None),
        ("three", None),
        ("two", None),
    ]
    assert "three" not in [item.key for item in store.search(ANIMALS, query="meadow")]


@pytest.mark.parametrize("query", [SENTENCES["owl"], "owls", "a silent hunter", "tax forms", "qwrtz"])
def test_spec_9_4_ported_the_score_is_the_cosine_of_query_and_text(open_store: OpenStore, query: str) -> None:
    """The cosine of two texts is the same either way round, and 1 for one text."""
    store = open_store(fields=["text"])
    store.put(ANIMALS, "owl", {"text": SENTENCES["owl"]})
    store.put(("queries",), "query", {"text": query})
    (forth,) = store.search(ANIMALS, query=query)
    (back,) = store.search(("queries",), query=SENTENCES["owl"])
    (same,) = store.search(("queries",), query=query)
    assert forth.score == pytest.approx(back.score, abs=1e-3)
    assert same.score == pytest.approx(1.0, abs=1e-3)
    assert -1.0 <= score_of([forth], "owl") <= 1.0


def test_spec_9_4_ported_the_nearest_comes_first_among_many(open_store: OpenStore) -> None:
    store = open_store(fields=["text"])
    filler = [PutOp(("sort", side), f"{side}{i}", {"text": "no"}) for side in "AZ" for i in range(100)]
    store.batch([PutOp(("sort", "M"), "M", {"text": "marmalade"}), *filler])
    found = store.search(("sort",), query="marmalade", limit=10)
    assert len({item.key for item in found}) == 10
    assert found[0].key == "M"
    assert score_of(found, "M") > max(score_of(found, item.key) for item in found[1:])


def test_spec_9_4_ported_texts_in_any_script_are_found(any_store: BaseStore) -> None:
    texts = {
        "georgian": "წყალი ცივია",
        "arabic": "الماء بارد",
        "hebrew": "המים קרים",
        "thai": "น้ำเย็น",
        "hindi": "पानी ठंडा है",
        "japanese": "水が冷たい",
        "korean": "물이 차갑다",
        "russian": "Вода холодная",
    }
    put_texts(any_store, texts)
    for key, text in texts.items():
        found = any_store.search(ANIMALS, query=text)
        assert found[0].key == key, text
        assert found[0].value == {"text": text}
