"""The strict reader of plan.json itself: what of the sample's plan it does not let pass."""

from typing import Any, Final

import pytest

from tests.cli.plan_file import out_of_bounds, strictly_read
from tests.plan.sample_bytes import FILE

SAMPLE: Final = FILE.read_bytes()


def test_the_samples_plan_is_read() -> None:
    assert strictly_read(SAMPLE).cluster_name == "shop"


@pytest.mark.parametrize(
    ("member", "instead"),
    [
        (b'"alternatives":', b'"alternative":'),
        (b'"tier":null,', b""),
        (b'"tier":null,"message_model":null', b'"message_model":null,"tier":null'),
        (b'"valid_until": ', b'"is_new": true,\n"valid_until": '),
    ],
)
def test_a_member_that_is_unknown_missing_or_elsewhere_is_named(member: bytes, instead: bytes) -> None:
    changed = SAMPLE.replace(member, instead, 1)
    assert changed != SAMPLE
    with pytest.raises(AssertionError, match="missing, unknown or out of its order"):
        strictly_read(changed)


@pytest.mark.parametrize(
    ("plan", "place"),
    [
        ({"groups": [{"connections": 0}, {"connections": -1}]}, "$.groups[1].connections: -1"),
        ({"queue_id": -2}, "$.queue_id: -2"),
        ({"completeness": {"ratio": 1.5}}, "$.completeness.ratio: 1.5"),
        ({"moved_ratio": 1.5, "busy_ratio": 1.5}, "$.moved_ratio: 1.5"),
        ({"broker_expected_ratios": {"broker-a": 2.0}}, "$.broker_expected_ratios.broker-a: 2.0"),
        ({"score": {"before": 100.5, "after": 100.0}}, "$.score.before: 100.5"),
        ({"rule": "HOT", "evidence": {"rule": -1}}, "$.rule: 'HOT'"),
        ({"rules": ["HOT_QUEUE", "HOT"]}, "$.rules[1]: 'HOT'"),
        ({"taken_at": "2026-11-23 07:09:25"}, "$.taken_at: '2026-11-23 07:09:25'"),
    ],
)
def test_a_value_out_of_its_bounds_is_named_with_its_place(plan: dict[str, Any], place: str) -> None:
    assert list(out_of_bounds(plan)) == [place]
