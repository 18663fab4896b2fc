"""Token counts: bounds that hold for any text, in any script."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.common import tokens
from services.common.tokens import BytePairCounter, VocabularyUnavailableError, token_counter

counter = token_counter()


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("Hello world", 2), ("This is an example sentence.", 6), ("word " * 3_000, 3_001), ("\n\n", 1)],
)
def test_spec_1_10_tokens_are_those_of_a_real_tokenizer(text: str, count: int) -> None:
    assert counter.count_tokens(text) == count


@pytest.mark.parametrize(
    "text",
    [
        "0123456789abcdef" * 2_000,
        "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22" * 2_400,
        "e" + "\u0301" * 17_000,
        "\U0001f469\u200d\U0001f4bb" * 3_000,
    ],
    ids=["hex", "thai", "combining marks", "emoji"],
)
def test_spec_1_10_no_text_counts_less_than_a_token_for_each_eight_bytes(text: str) -> None:
    assert counter.count_tokens(text) >= len(text.encode()) / 8


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
@example("\u0301")
@example("\u200d")
def test_spec_1_10_whatever_is_there_costs_something(text: str) -> None:
    assert counter.count_tokens(text) >= 1


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=5))
def test_lines_cost_at_most_what_they_cost_one_by_one(lines: list[str]) -> None:
    joined = counter.count_tokens("".join(f"\n- {line.strip()}" for line in lines))
    assert joined <= sum(counter.count_tokens(f"\n- {line.strip()}") for line in lines)


def test_a_process_has_one_counter_and_it_has_a_name() -> None:
    assert token_counter() is counter
    assert counter.name == "gpt2"


def test_another_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "other_vocabulary"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(tokens, "_PACKAGE", "other_vocabulary")
    with pytest.raises(VocabularyUnavailableError, match="cannot be read"):
        BytePairCounter()
    (package / "data" / "encoder.json").write_text("{}")
    with pytest.raises(VocabularyUnavailableError, match="is not the vocabulary"):
        BytePairCounter()
    monkeypatch.setattr(tokens, "_PACKAGE", "no_such_package")
    with pytest.raises(VocabularyUnavailableError, match="not installed"):
        BytePairCounter()
