"""What every recommendation is made of: its id, its figures and the parts of its sentences."""

import json
from hashlib import sha256
from typing import Any

import pytest

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.recommendation.answer import answer, figures, sentences
from rocketmq_capacity.tables.recommend import Recommendation

METRICS = {"peak": 1.5, "floor": 1.0, "excess": 1.5, "gini": 0.25, "cv": 0.5, "max": 3.0, "min": 0.0, "mean": 2.0}


def _answer(target: Any = 4, **facts: Any) -> Recommendation:
    return answer(action_of("EXPAND_QUEUES"), target=target, reason="why", **{"rules": ["A"], "topic": "pay"} | facts)


@pytest.mark.parametrize(
    ("target", "written"),
    [
        (4, "4"),
        ("a/b é東\u2028\x7f", '"a/b é東\u2028\x7f"'),
        ('"\\\b\t\n\f\r', r'"\"\\\b\t\n\f\r"'),
        ("\x00\x0b\x1b\x1f", r'"\u0000\u000B\u001B\u001F"'),
        ("\\u001f\x1f", r'"\\u001f\u001F"'),
        (["b", "a"], '["b","a"]'),
        ({"broker_name": "b", "per_broker": None}, '{"broker_name":"b","per_broker":null}'),
    ],
)
def test_an_id_is_the_digest_of_what_is_changed_and_to_what(target: Any, written: str) -> None:
    """Written as Jackson does; ids of equal changes stay equal from one release to the next."""
    text = f'{{"action":"EXPAND_QUEUES","group":null,"topic":"pay","target":{written}}}'

    assert _answer(target).id == sha256(text.encode()).hexdigest()[:12]


def test_an_id_depends_on_the_change_alone() -> None:
    assert _answer().id == _answer(rules=["B"], commands=["mqadmin"], before={"idle": 1}).id
    assert len({_answer().id, _answer(5).id, _answer(topic="sms").id, _answer(consumer_group="pay").id}) == 4


def test_rules_are_named_once_and_sorted() -> None:
    assert _answer(rules=["B", "A", "B"]).rules == ("A", "B")


def test_figures_keep_their_order_and_unknown_ones() -> None:
    found = _answer(before={"idle": 1, "count": None}, after={"idle": 0, "count": figures(METRICS)})

    assert found.before == '{"idle":1,"count":null}'
    assert list(json.loads(found.after)["count"]) == ["peak", "floor", "excess", "gini", "cv"]
    assert _answer().before == _answer().after == "{}"


@pytest.mark.parametrize(
    ("number", "shown"), [(1.00005, 1.0001), (1.00004999, 1.0), (2 / 3, 0.6667), (0.0, 0.0), (1e20, 1e20)]
)
def test_a_metric_is_rounded_half_up_by_its_digits(number: float, shown: float) -> None:
    assert figures({**METRICS, "cv": number}) == {"peak": 1.5, "floor": 1.0, "excess": 1.5, "gini": 0.25, "cv": shown}
    assert figures(None) is None


def test_sentences_follow_each_other() -> None:
    assert sentences("One.", None, "Two.") == "One. Two."
