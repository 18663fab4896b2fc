"""Questions about code as they are read."""

from __future__ import annotations

from services.semantic.code.question import question_of


def test_spec_3_11_terms_of_a_question_lead_back_to_its_words() -> None:
    question = question_of("Where is the discount of an order computed? See getHTTPResponse.")
    assert question.terms["ord"] > 0.0
    assert question.written["ord"] == "order"
    assert question.written["discount"] == "discount"
    assert "respons" in question.terms
    assert "respons" not in question.written  # a part of an identifier is no word of the question
