"""``plan`` on the recorded sample, from the command to the files that it leaves."""

import json
import os
import signal
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import jsonschema
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.group import StrategyPlan
from rocketmq_capacity.plan_file.plan import read_plan as read_plan_file
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.report.difference import difference
from rocketmq_capacity.store.whole_folder import MARKER, whole_folder
from rocketmq_capacity.tables.dataset import Queue
from tests.cli.plan_lists import out_of_causes, out_of_order, queues_as_texts
from tests.cli.planned import SAMPLE, Planned
from tests.cli.program import TIME_LIMIT_S, command, contents
from tests.cli.sample_plans import a_day_before
from tests.docs.report_sections import unexplained
from tests.fixtures.environment import ROOT
from tests.plan import sample_bytes
from tests.report.test_publish import FILES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ALLOCATION: Final = [
    *((name, pa.string()) for name in ("strategy", "consumer_group", "topic", "broker_name")),
    ("queue_id", pa.int32()),
    ("client_id", pa.string()),
]


@pytest.mark.parametrize("made", ["plain", "what_if"])
def test_the_plan_is_as_its_schema_says(made: str, plain: Planned, what_if: Planned) -> None:
    schema = json.loads((ROOT / "include/docs/plan.schema.json").read_bytes())
    folder = {"plain": plain, "what_if": what_if}[made].folder
    plan = (folder / "plan.json").read_bytes()
    jsonschema.validate(json.loads(plan), schema)


def test_report_plan_and_every_table_are_there_and_nothing_beside_them(plain: Planned) -> None:
    files = {path for path, data in contents(plain.folder).items() if data is not None}
    tables = {path for path in files if path.startswith("tables/")}
    scripts = {path for path in files if path.startswith("scripts/")}
    assert {path.rpartition(".")[2] for path in scripts} == {"sh"}
    assert files - tables - scripts == {MARKER, *FILES}
    assert {path.rpartition(".")[2] for path in tables} == {"parquet"}
    assert {path.count("/") for path in tables} == {2}
    assert {path.split("/")[1] for path in tables} >= {"allocation", "finding", "recommendation", "topic_queue"}
    assert [path.name for path in plain.folder.parent.iterdir()] == ["out"]
    assert "order_audit" in (plain.folder / "report.html").read_text("utf-8")


def test_every_section_of_the_samples_page_is_explained_by_its_name(plain: Planned) -> None:
    assert unexplained((plain.folder / "report.html").read_text(encoding="utf-8")) == []


def test_the_samples_plan_has_the_bytes_that_are_recorded(plain: Planned) -> None:
    plan = (plain.folder / "plan.json").read_bytes()

    difference_of_members = sample_bytes.difference(sample_bytes.FILE.read_bytes(), plan)

    assert not difference_of_members, difference_of_members


def test_the_plan_file_is_as_the_contract_draws_it(plain: Planned) -> None:
    assert plain.plan.cluster_name == plain.cluster["cluster_name"]
    assert plain.plan.taken_at == plain.cluster["taken_at"]
    assert plain.plan.completeness.ratio == 1.0
    assert plain.plan.scenario is msgspec.UNSET
    assert out_of_order(plain.plan) == []
    assert out_of_causes(plain.plan) == []


def test_a_queue_is_an_object_wherever_one_is_named(plain: Planned, what_if: Planned) -> None:
    of_rule = {finding.rule: finding for finding in plain.plan.findings}
    brokers = [one["broker_name"] for one in plain.cluster["brokers"]]

    hot = Queue("click_stream", "broker-b", 1)
    assert of_rule["HOT_QUEUE"].subjects == (hot,)
    assert msgspec.convert(of_rule["HOT_QUEUE"].evidence["hottest"][0]["queue"], Queue) == hot
    assert {type(one) for one in of_rule["ORPHAN_QUEUE"].subjects} == {Queue}
    assert queues_as_texts(plain.plan, brokers) == queues_as_texts(what_if.plan, brokers) == set()


def test_the_sample_shows_at_least_eight_kinds_of_findings_and_answers_each(plain: Planned) -> None:
    found = {finding.rule for finding in plain.plan.findings}
    assert len(found) >= 8
    assert {rule for one in plain.plan.recommendations for rule in one.rules} == found


def test_broadcasting_groups_have_no_strategies_and_no_more_than_pop_groups_a_useful_number(plain: Planned) -> None:
    for group in plain.plan.groups:
        is_broadcasting = group.message_model == "BROADCASTING"
        is_popping = group.message_request_mode == "POP"
        assert (group.strategies == ()) == is_broadcasting
        assert (group.max_useful_clients is None) == (is_broadcasting or is_popping)
        assert all((one.reason is None) == one.applicable for one in group.strategies)
    by_name = {group.consumer_group: group for group in plain.plan.groups}
    assert by_name["config_listener"].message_model == "BROADCASTING"
    assert by_name["search_indexer"].message_request_mode == "POP"
    assert by_name["stock_sync"].current_strategy == "MIXED"


def test_the_allocation_table_has_the_contracts_columns(plain: Planned) -> None:
    schema = pq.read_schema(next((plain.folder / "tables" / "allocation").glob("*.parquet")))
    assert [(field.name, field.type) for field in schema] == ALLOCATION
    strategies = {row["strategy"] for row in plain.rows("allocation")}
    assert strategies == {"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "POP", "BROADCASTING"}


def test_every_client_of_a_broadcasting_group_has_every_queue(plain: Planned) -> None:
    clients = plain.clients_of("config_listener")
    owners = plain.owners["config_listener", "BROADCASTING"]
    assert plain.queues_of("config_listener") <= owners.keys()
    assert all(set(of_queue) == clients and set(of_queue.values()) == {1} for of_queue in owners.values())


def test_the_plans_figures_are_those_of_its_allocation_table(plain: Planned) -> None:
    planned_strategies = {
        (group.consumer_group, one.strategy): one for group in plain.plan.groups for one in group.strategies
    }
    compared = 0
    for group, strategy, load in plain.loads():
        said, counts = planned_strategies[group, strategy], sorted(load.values())
        orphans = plain.queues_of(group) - plain.owners[group, strategy].keys()
        assert set(said.idle_clients) == {client_id for client_id, count in load.items() if count == 0}
        assert list(said.orphan_queues) == sorted(orphans)
        if len(counts) > 1:
            compared += 1
            assert shape(said) == pytest.approx(shape_of(counts), abs=1e-4), (group, strategy)
    assert compared > 50


def shape(strategy: StrategyPlan) -> tuple[float | None, ...]:
    """PEAK, GINI and CV by queues, as the plan says."""
    assert strategy.count is not None
    return strategy.count.peak, strategy.count.gini, strategy.count.cv


def shape_of(counts: list[int]) -> tuple[float, ...]:
    """PEAK, GINI and CV of ascending counts, by their definitions."""
    number, mean = len(counts), statistics.fmean(counts)
    gini = sum((2 * rank - number - 1) * count for rank, count in enumerate(counts, 1)) / (number * sum(counts))
    return max(counts) / mean, gini, statistics.pstdev(counts) / mean


def test_the_same_cluster_in_another_order_gives_the_same_bytes(plain: Planned, again: Planned) -> None:
    assert (again.folder / "plan.json").read_bytes() == (plain.folder / "plan.json").read_bytes()
    for table in ("findings.csv", "recommendations.csv"):
        assert (again.folder / table).read_bytes() == (plain.folder / table).read_bytes()


def test_overwrite_replaces_the_whole_folder(plain: Planned, again: Planned) -> None:
    assert {path.name for path in again.folder.iterdir()} == {path.name for path in plain.folder.iterdir()}
    assert contents(again.folder).keys() == contents(plain.folder).keys()
    assert {path.name for path in again.folder.parent.iterdir()} == {"inventory.json", "out"}


def test_a_run_that_is_ended_half_way_leaves_the_old_output_and_nothing_else(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "out", overwrite=False) as folder:
        (folder / "plan.json").write_text("yesterday's")
    before = contents(tmp_path)
    arguments = command("plan", "--inventory", SAMPLE, "--out", "out", "--overwrite")
    process = subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        deadline = time.monotonic() + TIME_LIMIT_S
        while not list(tmp_path.glob(".out.*/.lake.*/*/*/steps/allocate.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=TIME_LIMIT_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (1, "")
    assert errors.splitlines()[-1] == "rocketmq-capacity: stopped by SIGTERM"
    assert contents(tmp_path) == before


def test_a_scenario_plans_the_changed_cluster(plain: Planned, what_if: Planned) -> None:
    effect = effect_of(what_if)
    assert out_of_order(what_if.plan) == []
    assert out_of_causes(what_if.plan) == []
    assert effect.name == "a room less, a client more"
    assert [change["change"] for change in effect.changes] == [
        *("remove_clients", "add_clients", "add_clients", "set_queues", "lose_broker", "rolling_restart"),
        "lose_nameserver",
    ]
    assert effect.changes[3] == {
        "change": "set_queues",
        "topic": "click_stream",
        "read_queue_nums": 7,
        "write_queue_nums": 7,
    }
    was, now = ({group.consumer_group: group for group in one.plan.groups} for one in (plain, what_if))
    assert now["order_audit"].distinct_client_ids == was["order_audit"].distinct_client_ids - 1
    assert now["notifier"].distinct_client_ids == was["notifier"].distinct_client_ids + 1
    rows = what_if.rows("allocation")
    assert "127.0.0.1@notifier-9" in {row["client_id"] for row in rows}
    assert "broker-b" not in {row["broker_name"] for row in rows}


def test_a_scenarios_moved_queues_are_those_with_other_owners_in_the_two_tables(
    plain: Planned, what_if: Planned
) -> None:
    entries = {(one.consumer_group, one.strategy): one for one in effect_of(what_if).groups}
    after = {
        (group.consumer_group, one.strategy)
        for group in what_if.plan.groups
        for one in group.strategies
        if one.applicable
    }
    assert entries.keys() == after
    for (group, strategy), entry in entries.items():
        kept = plain.queues_of(group) & what_if.queues_of(group)
        had, has = plain.owners[group, strategy], what_if.owners[group, strategy]
        moved = sum(of(had, queue, strategy) != of(has, queue, strategy) for queue in kept)
        assert entry.moved_queues == moved, (group, strategy)
        assert entry.moved_ratio == pytest.approx(moved / len(kept), abs=1e-4)
    assert len({entry.moved_queues for entry in entries.values()}) > 3


def of(owners: Any, queue: Any, strategy: str) -> Any:
    """Who owns the queue; under POP its owners share it, and it does not matter how often one of them is listed."""
    found = owners.get(queue, {})
    return set(found) if strategy == "POP" else dict(found)


def test_a_scenarios_sides_and_findings_are_those_of_the_two_plans(plain: Planned, what_if: Planned) -> None:
    effect = effect_of(what_if)
    was, now = (
        {(group.consumer_group, one.strategy): one for group in side.plan.groups for one in group.strategies}
        for side in (plain, what_if)
    )
    for entry in effect.groups:
        for side, plan in ((entry.before, was), (entry.after, now)):
            said = plan[entry.consumer_group, entry.strategy]
            assert (side.idle, side.count, side.traffic) == (len(said.idle_clients), said.count, said.traffic)
    before, after = ({place(one): one for one in side.plan.findings} for side in (plain, what_if))
    told = [msgspec.structs.asdict(one) for one in effect.findings_added]
    for one in told:
        cause = one.pop("cause")
        assert cause is None or one["message"].endswith(f" The reason: {cause}.")
        one["message"] = one["message"].removesuffix(f" The reason: {cause}.")
    assert told == [msgspec.structs.asdict(one) for key, one in after.items() if key not in before]
    gone = {key: one for key, one in before.items() if key not in after}
    undecided = {place(one): one.why for one in effect.findings_undecided}
    assert list(effect.findings_cleared) == [one for key, one in gone.items() if key not in undecided]
    assert undecided.keys() <= gone.keys()
    assert effect.findings_added


def test_a_scenarios_counts_are_those_of_its_lists_of_its_groups_and_of_the_comparison_of_the_two_plans(
    plain: Planned, what_if: Planned
) -> None:
    effect = effect_of(what_if)
    lists: list[Sequence[PlanFinding]] = [effect.findings_added, effect.findings_cleared, effect.findings_undecided]
    totals = effect.totals
    assert totals is not None
    assert [len(each) for each in lists] == [totals.findings_added, totals.findings_cleared, totals.findings_undecided]
    compared = difference(*(read_plan_file(one.folder / "plan.json") for one in (plain, what_if)))
    found = compared.findings
    assert [len(each) for each in lists] == [len(found.new), len(found.gone), len(compared.undecided)]
    assert totals.findings_still == len(found.still)
    for name, of_list in zip(("added", "cleared", "undecided"), lists, strict=True):
        of_groups = Counter(one.consumer_group for one in of_list if one.consumer_group is not None)
        counts = {one.consumer_group: getattr(one, f"findings_{name}") for one in effect.affected_groups}
        assert {group: count for group, count in counts.items() if count} == of_groups
    assert totals.moved_queues == sum(one.moved_queues or 0 for one in effect.affected_groups) > 0
    assert effect.verdict in ("WORSE", "MIXED")


def effect_of(what_if: Planned) -> ScenarioResult:
    """What the scenario added to the plan."""
    assert isinstance(what_if.plan.scenario, ScenarioResult)
    return what_if.plan.scenario


def place(finding: PlanFinding) -> tuple[Any, ...]:
    """What makes two findings the same; a rule that is silent after the change may only be unable to tell."""
    topic = None if finding.rule == "IDLE_CONSUMERS" else finding.topic
    return finding.rule, finding.consumer_group, topic, finding.broker_name


def test_a_history_brings_its_samples_and_the_rule_that_compares_with_the_run_before(
    plain: Planned, with_history: Planned
) -> None:
    made, yesterday = with_history, a_day_before(plain.cluster)
    assert yesterday["taken_at"] < plain.cluster["taken_at"]

    assert out_of_order(made.plan) == []
    assert out_of_causes(made.plan) == []
    assert "SUSPECT_SNAPSHOT" not in {finding.rule for finding in plain.plan.findings}
    assert plain.plan.changes is None
    assert made.plan.changes is not None
    assert made.plan.changes.since == yesterday["taken_at"]
    assert set(made.plan.changes.new) >= {one.id for one in made.plan.findings if one.rule == "SUSPECT_SNAPSHOT"}
    (suspect,) = [finding for finding in made.plan.findings if finding.rule == "SUSPECT_SNAPSHOT"]
    flagged = {one.consumer_group for one in plain.plan.findings if one.consumer_group and one.severity != "INFO"}
    assert set(suspect.subjects) == flagged
    assert suspect.evidence == {"groups": len(plain.plan.groups), "newly_flagged": len(flagged)}
    at_two = 1_795_140_000.0  # yesterday's moment
    told = {
        (row["consumer_group"], row["topic"], row["broker_name"], row["queue_id"], consumer_offset)
        for row in made.rows("offset_sample")
        for at_s, consumer_offset in zip(row["at_s"], row["consumer_offset"], strict=True)
        if at_s == at_two
    }
    assert told == {
        (group["consumer_group"], one["topic"], one["broker_name"], one["queue_id"], one.get("consumer_offset"))
        for group in yesterday["consumer_groups"]
        for one in group.get("offsets", [])
    }
    assert len(told) > 50
