"""Which tests `make test` leaves to the build machine."""

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

@pytest.fixture
def neo4j_url():
    return "bolt://graph"

@pytest.fixture(params=["postgres", pytest.param("neo4j", marks=pytest.mark.ci("the second engine", needs="neo4j"))])
def engine(request):
    return request.param

def test_quick():
    pass

@pytest.mark.ci("takes minutes")
def test_slow():
    pass

def test_graph(neo4j_url):
    pass

def test_engines(engine):
    pass
"""


@pytest.mark.parametrize(
    ("arguments", "passed", "left"),
    [
        ([], 2, 3),
        (["--require=neo4j"], 4, 1),
        (["--require=redis"], 2, 3),
        (["--ci"], 5, 0),
        (["-n1"], 2, 3),  # by a worker, which counts
    ],
)
def test_slow_tests_and_second_engines_are_left_to_ci_and_counted(
    pytester: pytest.Pytester, arguments: list[str], passed: int, left: int
) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.support.selection"]')
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_inprocess("-p", "no:asyncio", *arguments)

    result.assert_outcomes(passed=passed, deselected=left if arguments != ["-n1"] else 0)
    line = f'{left} tests are left to CI; all run with: make test PYTEST_ARGS="--ci"'
    assert [each for each in result.outlines if "left to CI" in each] == [line] * bool(left)
