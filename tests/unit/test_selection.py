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

@pytest.mark.proof("make prove-it")
def test_thousand_kills():
    pass
"""


@pytest.mark.parametrize(
    ("arguments", "passed", "left", "proofs"),
    [
        ([], 2, 3, 1),
        (["--require=neo4j"], 4, 1, 1),
        (["--require=redis"], 2, 3, 1),
        (["--ci"], 5, 0, 1),
        (["--ci", "--proofs"], 6, 0, 0),
        (["-n1"], 2, 3, 1),  # by a worker, which counts
    ],
)
def test_slow_tests_and_second_engines_are_left_to_ci_proofs_to_their_command_and_both_counted(
    pytester: pytest.Pytester, arguments: list[str], passed: int, left: int, proofs: int
) -> None:
    pytester.makeconftest('pytest_plugins = ["tests.support.selection"]')
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_inprocess("-p", "no:asyncio", *arguments)

    result.assert_outcomes(passed=passed, deselected=left + proofs if arguments != ["-n1"] else 0)
    lines = [f'{left} tests are left to CI; all run with: make test PYTEST_ARGS="--ci"'] * bool(left)
    lines += [f"{proofs} proofs take minutes each; they run with: make test-proofs"] * bool(proofs)
    assert [each for each in result.outlines if "left to CI" in each or "proofs take" in each] == lines
