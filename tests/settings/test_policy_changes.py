"""What one run may change in its policy: how it judges, and nothing that leads elsewhere."""

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import OF_A_RUN, Policy, PolicyChanges

OF_THE_DEPLOYMENT = {
    "language": "zh-CN",
    "proxies": "[10.66.0.1:8080]",
    "snapshot": "{sample_interval_s: 600}",
    "samples": "{every_minutes: 1}",
    "history": "{runs: 100}",
    "retention": "{days: 1}",
    "validity": "{hours: 8760}",
    "changes": "{worse_factor: 9}",
    "score": "{info_ratio: 0.0}",
    "accepted": "[]",
    "freeze": "[]",
    "groups": "[]",
    "brokers": "[]",
    "metrics": "{most_topics: 1}",
    "autoscalers": "{lag_messages: 1}",
}
"""Addresses that get signatures, times that are waited, what is deleted or accepted, and whose groups are."""


def test_each_key_of_a_policy_is_either_for_a_run_or_for_the_deployment_alone() -> None:
    assert {*OF_A_RUN, *OF_THE_DEPLOYMENT} == set(Policy.model_fields)
    assert not {*OF_A_RUN} & {*OF_THE_DEPLOYMENT}


@pytest.mark.parametrize("key", OF_THE_DEPLOYMENT)
def test_a_run_names_no_address_no_time_and_nothing_to_delete_or_accept(key: str) -> None:
    with pytest.raises(BadInput, match=f"policy changes: {key}: is not for one run: only the deployment's policy file"):
        PolicyChanges(text=f"{key}: {OF_THE_DEPLOYMENT[key]}").mapping()


def test_samples_a_day_apart_are_refused_in_a_run_and_do_not_fit_into_the_limit_of_a_deployment() -> None:
    text = "snapshot: {sample_interval_s: 86400, sample_count: 2}"
    with pytest.raises(BadInput, match=r"snapshot"):
        PolicyChanges(text=text).mapping()
    with pytest.raises(ValueError, match=r"take 86400 s together, which is not below limit_s"):
        Policy.model_validate({"snapshot": {"sample_interval_s": 86_400, "sample_count": 2}})


def test_a_run_names_no_code() -> None:
    text = "current_strategies: {g_pay: {class: com.acme.Own, jar: /tmp/own.jar}}"
    with pytest.raises(BadInput, match=r"current_strategies\.g_pay: names a class and a jar"):
        PolicyChanges(text=text).mapping()


def test_a_run_changes_what_is_computed_and_how_it_is_judged() -> None:
    text = "{thresholds: {HOT_QUEUE: {peak: 3.0}}, exclude: {topics: [x]}, rooms: {brokers: []}}"
    assert set(PolicyChanges(("AVG",), text).mapping()) == {"thresholds", "exclude", "rooms", "strategies"}
