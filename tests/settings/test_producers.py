"""How producers send, by the policy."""

from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy, read_policy
from rocketmq_capacity.settings.producers import Sending

POLICY = Policy.model_validate({
    "producers": [
        {"match": "^pay_", "retries": 5, "timeout_ms": 10_000},
        {"match": "_log$", "sending": "ONEWAY", "retries": 3, "timeout_ms": 50},
        {"match": "^p", "sending": "ASYNC", "retries": 0},
    ]
})


def test_the_first_entry_that_is_found_in_the_name_counts_and_the_client_s_defaults_hold_for_all_others() -> None:
    inner = "CLIENT_INNER_PRODUCER"  # every Java client has it
    found = POLICY.sendings(["stock", "app_log", "push", "pay_log", "pay_in", "stock", "a_log", inner])

    assert found == {
        Sending("SYNC", 2, 3_000): ("stock",),
        Sending("SYNC", 5, 10_000): ("pay_in", "pay_log"),
        Sending("ASYNC", 0, 3_000): ("push",),
        # Nobody waits for a one-way message, and nobody tries it again.
        Sending("ONEWAY", 0, None): ("a_log", "app_log"),
    }
    assert list(found) == sorted(found, key=lambda one: ["SYNC", "ASYNC", "ONEWAY"].index(one.mode))


def test_where_no_group_is_known_everything_that_the_policy_tells_may_run() -> None:
    assert Policy().sendings([]) == {Sending(): ()}
    assert list(POLICY.sendings([])) == [Sending(), Sending("SYNC", 5, 10_000), *list(POLICY.sendings([]))[2:]]
    assert set(POLICY.sendings(["CLIENT_INNER_PRODUCER"]).values()) == {()}


@pytest.mark.parametrize(
    ("entry", "place", "problem"),
    [
        ({"match": "("}, "producers[0].match", "is not a regular expression of RE2"),
        ({"match": ""}, "producers[0].match", "at least 1 character"),
        ({}, "producers[0].match", "is missing"),
        ({"match": "p", "sending": "sync"}, "producers[0].sending", "'SYNC', 'ASYNC' or 'ONEWAY'"),
        ({"match": "p", "retries": -1}, "producers[0].retries", "greater than or equal to 0"),
        ({"match": "p", "retries": "2"}, "producers[0].retries", "valid integer"),
        ({"match": "p", "timeout_ms": 0}, "producers[0].timeout_ms", "greater than or equal to 1"),
        ({"match": "p", "timeout": 3_000}, "producers[0].timeout", "the nearest known key is 'timeout_ms'"),
    ],
)
def test_a_bad_entry_is_refused_with_its_place(tmp_path: Path, entry: dict[str, Any], place: str, problem: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"producers: [{entry!r}]", "utf-8")

    with pytest.raises(BadInput) as refused:
        read_policy(file)

    assert str(refused.value).startswith(f"{file}: {place}")
    assert problem in str(refused.value)
