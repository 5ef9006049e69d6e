"""Which configuration of a run is refused."""

import pytest

from rocketmq_capacity.provider.known_fields import unknown_field

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("conf", "known", "reason"),
    [
        (
            {"only_lst": True},
            ["only_list"],
            "Invalid input for param only_lst: is not a known field; the nearest known field is 'only_list'",
        ),
        (
            {"clusters": [], "inventry": "a.json", "zoo": 1},
            ["clusters", "inventory"],
            "Invalid input for param inventry: is not a known field; the nearest known field is 'inventory'",
        ),
        ({"why": 1}, [], "Invalid input for param why: is not a known field; this Dag has no fields"),
    ],
)
def test_an_unknown_field_is_named_with_the_nearest_known_one(
    conf: dict[str, object], known: list[str], reason: str
) -> None:
    assert unknown_field(conf, known) == reason


@pytest.mark.parametrize("conf", [{}, {"only_list": "anything"}, {"airflow/task_span_detail_level": 2}])
def test_known_fields_and_those_of_airflow_itself_are_taken(conf: dict[str, object]) -> None:
    assert unknown_field(conf, ["only_list", "days"]) == ""


def test_a_long_name_is_shown_in_part() -> None:
    assert len(unknown_field({"x" * 100_000: 1}, ["only_list"])) < 400
