"""What the policy tells of groups, and when they run."""

import pytest
from pydantic import ValidationError

from rocketmq_capacity.settings.groups import NO_ENTRY, GroupEntry
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.schedule import is_scheduled

POLICY = Policy.model_validate({
    "groups": [
        {"match": "^g_pay", "owner": "payments", "tier": 1, "min_clients": 4},
        {"match": "pay", "owner": "others", "min_clients": 1},
    ]
})


@pytest.mark.parametrize(
    ("group", "owner", "tier", "min_clients"),
    [
        ("g_pay_eu", "payments", 1, 4),
        ("eu_g_pay", "others", None, 2),
        ("g_stock", None, None, 2),
    ],
)
def test_the_first_entry_that_is_found_in_the_name_counts_and_never_lowers_the_minimum_of_all(
    group: str, owner: str | None, tier: int | None, min_clients: int
) -> None:
    entry = POLICY.group_entry(group)

    assert (entry.owner, entry.tier, POLICY.min_clients(group)) == (owner, tier, min_clients)


def test_a_group_that_no_entry_matches_has_no_owner_and_always_runs() -> None:
    assert Policy().group_entry("g_pay") is NO_ENTRY
    assert not NO_ENTRY.is_off("2026-11-20T02:00:00Z")


@pytest.mark.parametrize(
    ("schedule", "taken_at", "runs"),
    [
        ("0 6-22 * * *", "2026-11-20T05:59:59Z", False),
        ("0 6-22 * * *", "2026-11-20T06:00:00Z", True),
        ("0 6-22 * * *", "2026-11-20T22:59:59Z", True),
        ("0 6-22 * * *", "2026-11-20T23:00:00Z", False),
        ("0 6-22 * * *", "2026-11-20T06:30:00+01:00", False),
        ("30 22-4 * * *", "2026-11-20T02:05:00Z", True),
        ("0 */2 * * *", "2026-11-20T03:00:00Z", False),
        ("0 6-22 * * mon-fri", "2026-11-20T08:00:00Z", True),
        ("0 6-22 * * mon-fri", "2026-11-21T08:00:00Z", False),
        ("0 6-22 * * 7", "2026-11-22T08:00:00Z", True),
        ("0 6 1,15 * *", "2026-11-15T06:10:00Z", True),
        ("0 6 1 * fri", "2026-11-20T06:10:00Z", True),
        ("0 6 1 * fri", "2026-12-01T06:10:00Z", True),
        ("0 6 1 * fri", "2026-12-02T06:10:00Z", False),
        ("0 6 * jan,feb *", "2026-11-20T06:10:00Z", False),
        ("0 6 29 2 *", "2026-02-28T06:10:00Z", False),
        ("0 6 29 2 *", "2096-02-29T06:10:00Z", True),
    ],
)
def test_a_group_runs_in_the_hours_utc_in_which_its_cron_expression_fires(
    schedule: str, taken_at: str, runs: bool
) -> None:
    assert is_scheduled(schedule, taken_at) is runs
    assert GroupEntry(match="g", schedule=schedule).is_off(taken_at) is not runs


@pytest.mark.parametrize(
    "schedule",
    ["", "* * * *", "* * * * * *", "@daily", "R * * * *", "0 0 L * *", "0 0 * * fri#2", "61 * * * *", "*/0 * * * *"],
)
def test_what_is_not_plain_cron_is_refused_with_the_expected_form(schedule: str) -> None:
    with pytest.raises(ValidationError, match=r"expected a cron expression of five fields in UTC"):
        GroupEntry(match="g", schedule=schedule)


@pytest.mark.parametrize("schedule", ["0 6 30 2 *", "0 6 31 4,6,9,11 *"])
def test_a_schedule_of_days_that_never_come_is_refused(schedule: str) -> None:
    with pytest.raises(ValidationError, match=r"names no day that ever comes; expected a cron expression"):
        GroupEntry(match="g", schedule=schedule)


def test_an_owner_has_one_channel_that_any_entry_may_name() -> None:
    groups = [
        {"match": "^g_pay", "owner": "payments"},
        {"match": "^g_fee", "owner": "payments", "channel": "pay_chat"},
        {"match": "^g_ship", "owner": "logistics", "channel": "pay_chat"},
        {"match": "^g_own", "owner": "nobody"},
    ]

    assert Policy.model_validate({"groups": groups}).channels == {"payments": "pay_chat", "logistics": "pay_chat"}


def test_a_kind_is_that_of_a_deployment() -> None:
    with pytest.raises(ValidationError, match="has a kind without a deployment"):
        Policy.model_validate({"groups": [{"match": "a", "kind": "StatefulSet"}]})


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([{"match": "a", "channel": "chat"}], "has a channel without an owner"),
        ([{"match": "a", "owner": "o", "channel": "https://hooks/T/B/x"}], "channel"),
        (
            [{"match": n, "owner": "o", "channel": n} for n in "ab"],
            "'o' has the channels a and b; expected one",
        ),
    ],
)
def test_a_channel_that_is_none_is_refused(groups: list[dict[str, str]], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Policy.model_validate({"groups": groups})


def test_entries_of_one_deployment_have_one_kind() -> None:
    entries = [
        {"match": "a", "deployment": "shop/pay", "kind": "StatefulSet"},
        {"match": "b", "deployment": "shop/pay"},
    ]
    with pytest.raises(ValidationError, match="shop/pay has the kinds StatefulSet and Deployment; expected one kind"):
        Policy.model_validate({"groups": entries})

    for entry in entries:
        entry["kind"] = "StatefulSet"
    assert len(Policy.model_validate({"groups": entries}).groups) == 2
