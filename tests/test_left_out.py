"""Which files are not imported, since none of their tests is to run."""

import pytest

from tests.fixtures.left_out import is_left_out

ONE = "import pytest\n\npytestmark = pytest.mark.airflow\n"
SOME = "pytestmark = [pytest.mark.browser, pytest.mark.slow]\n"


@pytest.mark.parametrize("source", [ONE, SOME])
def test_a_mark_of_the_whole_file_leaves_it_out(source: str) -> None:
    assert is_left_out(source, "not java and not airflow and not slow")


def test_a_mark_of_a_test_leaves_no_file_out() -> None:
    assert not is_left_out("@pytest.mark.slow\ndef test_a() -> None: ...\n", "not slow")


@pytest.mark.parametrize("expression", ["airflow", "not airflow or slow", "not (airflow and slow)", "not java", ""])
def test_an_expression_that_may_choose_its_tests_leaves_no_file_out(expression: str) -> None:
    assert not is_left_out(ONE, expression)
