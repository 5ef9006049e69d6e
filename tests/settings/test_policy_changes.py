"""What one run may change in its policy: how it judges, and nothing that leads elsewhere."""

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import PolicyChanges

LEADS_ELSEWHERE = {
    "proxies": "[10.66.0.1:8080]",
    "snapshot": "{sample_interval_s: 86400, sample_count: 2}",
    "history": "{runs: 100}",
    "retention": "{days: 1}",
    "accepted": "[]",
    "freeze": "[]",
}


@pytest.mark.parametrize("key", LEADS_ELSEWHERE)
def test_a_run_names_no_address_no_time_and_nothing_to_delete_or_accept(key: str) -> None:
    text = f"{key}: {LEADS_ELSEWHERE[key]}"
    if key == "snapshot":
        text = "snapshot: {sample_interval_s: 600}"
    with pytest.raises(BadInput, match=f"policy changes: {key}: is not for one run: only the deployment's policy file"):
        PolicyChanges(text=text).mapping()


def test_a_run_changes_what_is_computed_and_how_it_is_judged() -> None:
    text = "{thresholds: {HOT_QUEUE: {peak: 3.0}}, exclude: {topics: [x]}, rooms: {brokers: []}}"
    assert set(PolicyChanges(("AVG",), text).mapping()) == {"thresholds", "exclude", "rooms", "strategies"}
