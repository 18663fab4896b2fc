import pytest

from services.gateway.recall.question.kinds import QuestionKind, read_kinds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ada move?", QuestionKind.WHEN),
        ("What date is the race?", QuestionKind.WHEN),
        ("How long was the trip?", QuestionKind.WHEN),
        ("Who baked the cake?", QuestionKind.WHO),
        ("Where does she live?", QuestionKind.WHERE),
        ("Which city did he visit?", QuestionKind.WHERE),
        ("How many dogs does Ben have?", QuestionKind.HOW_MANY),
        ("What is the average response time?", QuestionKind.HOW_MANY),
        ("Why did he leave?", QuestionKind.WHY),
        ("What books has Ada read?", QuestionKind.LIST),
        ("What kind of music does he like?", QuestionKind.LIST),
        ("What artists/bands has Ada heard?", QuestionKind.LIST),
        ("Which career-high results did Ben have?", QuestionKind.LIST),
        ("What e-business does she run?", QuestionKind(0)),
        ("In what order did I visit them?", QuestionKind.ORDER),
        ("Can you summarise my project?", QuestionKind.SUMMARY | QuestionKind.REQUEST),
        ("How should I plan my week?", QuestionKind.REQUEST),
        ("Could you suggest a hotel?", QuestionKind.REQUEST),
        ("Did Ada go to Rome?", QuestionKind.YES_NO),
        ("whens the race", QuestionKind.WHEN),
        ("wheres my bike", QuestionKind.WHERE),
        ("whos coming", QuestionKind.WHO),
        ("whys he late", QuestionKind.WHY),
        ("my bicycle", QuestionKind(0)),
    ],
)
def test_spec_5_1_kinds_of_questions(text: str, expected: QuestionKind) -> None:
    assert read_kinds(text) == expected
