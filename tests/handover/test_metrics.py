"""metrics.prom: read by prometheus-client's own parsers, of OpenMetrics and of the older text format."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace
from prometheus_client import parser as text_format
from prometheus_client.openmetrics import parser as open_metrics

from rocketmq_capacity.handover import families
from rocketmq_capacity.handover.families import FAMILIES, PREFIX
from rocketmq_capacity.handover.hand_over import handed_over
from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.handover.observed import Observed
from rocketmq_capacity.settings.policy import Metrics, Policy
from tests.handover.filling_disk import GROWING, a_filling_broker
from tests.report.from_rows import plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_failure, a_finding, a_group
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

ALL = Metrics()
FORMATS: Final = Path(__file__).parents[2] / "include/docs/formats.md"
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def series_of(content: bytes, reader: Any = open_metrics) -> Series:
    """Each series by its short name and its labels, without the cluster."""
    return {
        (
            sample.name.removeprefix(PREFIX),
            tuple((name, value) for name, value in sample.labels.items() if name != "cluster"),
        ): sample.value
        for family in reader.text_string_to_metric_families(content.decode())
        for sample in family.samples
    }


def metrics(rows: Any, bounds: Metrics = ALL) -> Series:
    return series_of(metrics_of(plan_of(rows), bounds))


def of_group(found: Series, group: str = "g_pay") -> dict[str, float]:
    """The series of a group that have no other label."""
    return {name: value for (name, labels), value in found.items() if labels == (("consumer_group", group),)}


def test_the_sample_has_what_the_plan_says_of_its_cluster_its_group_and_its_topic() -> None:
    found = metrics(sample_rows())

    assert found["snapshot_timestamp_seconds", ()] == 1795140000
    assert found["valid_until_timestamp_seconds", ()] - found["snapshot_timestamp_seconds", ()] == 86400
    assert found["completeness_ratio", ()] == 1
    assert found["consumer_groups", (("provision_status", "UNDECIDED"),)] == 1
    assert found["consumer_groups", (("provision_status", "UNDER_PROVISIONED"),)] == 0
    assert found["findings", (("rule", "IDLE_CONSUMERS"), ("severity", "WARNING"))] == 1
    assert of_group(found) == {
        "consumer_group_clients": 12,
        "consumer_group_excess_ratio": 1,
        "consumer_group_idle_clients": 4,
        "consumer_group_orphan_queues": 0,
    }
    assert found["topic_consumer_groups", (("topic", "pay"),)] == 1
    assert found["topic_orphan_queues", (("topic", "pay"),)] == 0


def test_what_is_unknown_has_no_series() -> None:
    found = metrics({"cluster": [a_cluster()], "group_status": [a_group(current_strategy=None)]})

    assert of_group(found) == {"consumer_group_clients": 12}
    assert not [name for name, _ in found if name == "consumer_group_reading_status"]
    assert ("topic_orphan_queues", (("topic", "pay"),)) not in found


def test_a_known_size_has_its_bounds() -> None:
    group = a_group(
        utilisation_lower=0.2,
        utilisation=0.25,
        utilisation_upper=0.75,
        is_size_known=True,
        needed_clients_target=3,
        min_replicas=4,
        max_useful_replicas=8,
        reading_status="UNREAD",
    )
    found = metrics({"cluster": [a_cluster()], "group_status": [group]})

    assert of_group(found) == {
        "consumer_group_clients": 12,
        "consumer_group_needed_clients": 3,
        "consumer_group_safe_clients": 4,
        "consumer_group_score": 72.2,
        "consumer_group_useful_clients": 8,
        "consumer_group_utilisation_lower_ratio": 0.2,
        "consumer_group_utilisation_ratio": 0.25,
        "consumer_group_utilisation_upper_ratio": 0.75,
    }
    assert found["consumer_group_reading_status", (("consumer_group", "g_pay"), ("reading_status", "UNREAD"))] == 1


def test_lag_that_is_not_under_control_has_its_worst_state() -> None:
    found = metrics({
        "cluster": [a_cluster()],
        "group_status": [a_group()],
        "finding": [a_finding("LAG_STATE", {"state": "STALL"}, severity="CRITICAL")],
    })

    assert found["consumer_group_lag_state", (("consumer_group", "g_pay"), ("lag_state", "STALL"))] == 1


def test_a_disk_that_fills_has_the_time_until_each_level_in_seconds() -> None:
    plan = replace(plan_of(sample_rows()), brokers=(a_filling_broker(latest_days=None),))
    found = {
        (name.removeprefix("broker_disk_saturation_"), dict(labels)["used_ratio"]): value
        for (name, labels), value in series_of(metrics_of(plan, ALL)).items()
        if dict(labels).get("node_id") == "broker-a"
    }

    assert found == {
        ("earliest_seconds", "0.75"): 0,
        ("seconds", "0.75"): 0,
        ("latest_seconds", "0.75"): 0,
        ("earliest_seconds", "0.85"): 129_600,
        ("seconds", "0.85"): 172_800,
        ("latest_seconds", "0.85"): 345_600,
        ("earliest_seconds", "0.9"): 259_200,
        ("seconds", "0.9"): 388_800,
    }


def test_a_group_whose_traffic_grows_has_the_time_until_it_is_too_much_in_seconds() -> None:
    plan = plan_of(sample_rows())
    first, *others = plan.groups
    found = series_of(metrics_of(replace(plan, groups=(replace(first, traffic_forecast=GROWING), *others)), ALL))
    told = {
        (name.removeprefix("consumer_group_saturation_"), *dict(labels).values()): value
        for (name, labels), value in found.items()
        if name.startswith("consumer_group_saturation_")
    }

    assert told == {
        ("earliest_seconds", first.consumer_group): 86_400,
        ("seconds", first.consumer_group): 172_800,
    }


def test_beyond_the_bound_the_worst_ones_stay_and_the_others_are_counted() -> None:
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(f"g_{number}", topics=[f"t_{number}"]) for number in range(5)],
        "finding": [
            a_finding(consumer_group="g_3", severity="WARNING"),
            a_finding("LAG_STATE", consumer_group="g_4", topic="t_2", severity="CRITICAL"),
        ],
    }
    found = metrics(rows, Metrics(most_consumer_groups=2, most_topics=1))

    named = {dict(labels).get("consumer_group") for _, labels in found}
    assert named - {None} == {"g_3", "g_4"}
    assert {dict(labels).get("topic") for _, labels in found} - {None} == {"t_2"}
    assert (found["left_out_consumer_groups", ()], found["left_out_topics", ()]) == (3, 4)
    assert sum(value for (name, _), value in found.items() if name == "consumer_groups") == 5


@pytest.mark.parametrize("name", ['"quoted"', "back\\slash", "two\nlines", "中文组", "{a=b}", "\u202eevil"])
def test_a_name_comes_back_as_it_is_from_both_text_formats(name: str) -> None:
    rows = {"cluster": [a_cluster(cluster_name="C")], "group_status": [a_group(name)], "failure": [a_failure()]}
    content = metrics_of(plan_of(rows), ALL)

    found = series_of(content)
    assert of_group(found, name) == {"consumer_group_clients": 12}
    assert series_of(content, text_format) == found
    assert content.endswith(b"\n# EOF\n")


def test_equal_plans_give_equal_bytes_and_only_metrics_that_are_listed() -> None:
    content = metrics_of(plan_of(varied_rows(30)), ALL)

    assert content == metrics_of(plan_of(varied_rows(30)), ALL)
    told = list(open_metrics.text_string_to_metric_families(content.decode()))
    known = {family.name: family for family in FAMILIES}
    assert {family.name for family in told} <= set(known)
    for family in told:
        assert family.type == "gauge"
        assert family.unit == known[family.name].unit
        assert {label for sample in family.samples for label in sample.labels} <= set(known[family.name].labels)


def test_no_gauge_has_the_name_of_a_counter_and_no_meaning_has_a_quote() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES) > 25
    assert families.ORPHANS in FAMILIES
    for family in FAMILIES:
        assert not family.name.endswith("_total")
        assert not set(family.meaning) & set('"\\\n')


def test_the_formats_page_names_every_metric_with_its_labels() -> None:
    told = re.findall(r"(?m)^\| `(\w+)` \| (.*?) \| ", FORMATS.read_text("utf-8").partition("`metrics.prom` has")[2])

    assert [(name, set(re.findall(r"`(\w+)`", labels)) | {"cluster"}) for name, labels in told[: len(FAMILIES)]] == [
        (family.short, set(family.labels)) for family in FAMILIES
    ]


def test_a_what_if_hands_over_nothing() -> None:
    handed = handed_over(plan_of(varied_rows(3), scenario=a_scenario()), Policy(), Observed())

    assert handed
    assert not any(handed.values())
