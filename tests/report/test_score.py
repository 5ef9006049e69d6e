"""The score of groups and of the cluster, by hand, and what recommendations make of it."""

import random
import re
import time
from typing import Any

import pytest
from pydantic import ValidationError

from rocketmq_capacity.handover.metrics import metrics_of
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.score import scored
from rocketmq_capacity.settings.policy import Metrics, Policy
from rocketmq_capacity.settings.score import ScorePolicy, ScoreWeights
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import cells_of, read_page, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_group_failure, a_recommendation
from tests.report.varied_cluster import varied_rows

FINE = {"provision_status": "RIGHT_PROVISIONED", "reading_status": "READ"}
SURVIVES: dict[str, Any] = {"weights": {"SURVIVES_LOSS": 0.0}}
"""What a lost broker does is unknown without rows of failures."""


def plan_with(*findings: Any, groups: Any = None, answers: Any = (), score: Any = SURVIVES) -> Plan:
    rows = {
        "cluster": [a_cluster()],
        "group_status": groups or [a_group("g_pay", topics=["pay"], **FINE)],
        "finding": list(findings),
        "recommendation": list(answers),
    }
    return plan_of(rows, policy=Policy.model_validate({"score": score}))


def of_group(plan: Plan, name: str = "g_pay") -> Any:
    return next(group.score for group in plan.groups if group.consumer_group == name)


def of_rule(rule: str, severity: str = "WARNING", **place: Any) -> Any:
    return a_finding(**{"rule": rule, "severity": severity, "consumer_group": "g_pay", "topic": None} | place)


def answering(rule: str, action: str = "CHANGE_STRATEGY") -> Any:
    return a_recommendation(action=action, consumer_group="g_pay", topic=None, rules=[rule])


def test_without_a_finding_the_score_is_100_and_a_goal_that_cannot_be_judged_is_told() -> None:
    plan = plan_with()
    assert (of_group(plan).before, of_group(plan).after, of_group(plan).judged_ratio) == (100.0, 100.0, 1.0)
    assert plan.score is not None
    assert (plan.score.before, plan.score.after, plan.score.judged_ratio) == (100.0, 100.0, 1.0)

    unknown = of_group(plan_with(score={}))
    assert unknown.undecided == ("SURVIVES_LOSS",)
    assert (unknown.before, unknown.judged_ratio) == (100.0, round(87 / 97, 4))


@pytest.mark.parametrize(
    ("rule", "severity", "lost"),
    [
        ("ORPHAN_QUEUE", "CRITICAL", 20),
        ("FIFO_BROKEN", "WARNING", 15),
        ("CONSUMER_CAPACITY", "INFO", 0),
        ("IDLE_CONSUMERS", "WARNING", 5),
        ("IDLE_CONSUMERS", "INFO", 2.5),
        ("STALE_OBJECT", "WARNING", 0),
    ],
)
def test_a_finding_takes_the_weight_of_its_goal_from_the_score(rule: str, severity: str, lost: float) -> None:
    score = of_group(plan_with(of_rule(rule, severity)))
    assert score.before == int((87 - lost) / 87 * 1000) / 10
    assert bool(score.broken) == bool(lost)


def test_two_findings_of_one_goal_take_it_once() -> None:
    twice = plan_with(of_rule("ORPHAN_QUEUE"), of_rule("DUPLICATE_CLIENT_ID"))
    assert of_group(twice) == of_group(plan_with(of_rule("ORPHAN_QUEUE")))


def test_missing_facts_leave_goals_undecided_and_too_few_facts_leave_no_score() -> None:
    small = of_group(plan_with(groups=[a_group("g_pay", **FINE | {"provision_status": "UNDECIDED"})]))
    assert (small.before, small.undecided, small.judged_ratio) == (100.0, ("CAPACITY_AT_PEAK",), round(72 / 87, 4))

    blind = of_group(plan_with(groups=[a_group("g_pay", **FINE | {"reading_status": "UNKNOWN"})]))
    assert (blind.before, blind.after, blind.judged_ratio) == (None, None, round(15 / 87, 4))


def test_a_group_that_leaves_queues_unread_is_broken_even_if_its_finding_is_accepted() -> None:
    assert of_group(plan_with(groups=[a_group("g_pay", **FINE | {"reading_status": "UNREAD"})])).broken == (
        "NO_ORPHAN",
    )


def test_the_finding_of_a_topic_counts_for_each_group_that_reads_it() -> None:
    groups = [a_group(name, topics=[topic], **FINE) for name, topic in (("g_a", "pay"), ("g_b", "pay"), ("g_c", "log"))]
    plan = plan_with(of_rule("READ_LESS_THAN_WRITE", consumer_group=None, topic="pay"), groups=groups)
    assert [of_group(plan, name).broken for name in ("g_a", "g_b", "g_c")] == [("NOTHING_UNREAD",)] * 2 + [()]
    assert plan.score is not None
    first = plan.score.goals[0]
    assert (first.goal, first.kept, first.broken, first.points) == ("NOTHING_UNREAD", 1, 2, round(2000 / 87 / 3, 4))


def test_a_broken_broker_breaks_a_hard_goal_for_the_whole_cluster_and_for_no_group() -> None:
    plan = plan_with(of_rule("BROKER_DISK", consumer_group=None, broker_name="broker-a"))
    assert plan.score is not None
    assert (plan.score.goals[0].cluster_broken, plan.score.before) == (True, int(67 / 87 * 1000) / 10)
    assert of_group(plan).before == 100.0


def test_a_group_that_is_too_small_without_a_broker_does_not_survive_its_loss() -> None:
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group(name, topics=["pay"], **FINE) for name in ("g_firm", "g_unsure", "g_weak")],
        "group_failure": [
            a_group_failure("g_firm"),
            a_group_failure("g_unsure", becomes_under=None),
            a_group_failure("g_weak", lost="broker-a"),
            a_group_failure("g_weak", lost="broker-b", becomes_under=True),
            a_group_failure("g_firm", "BUSIEST_CLIENT", "c@1", becomes_under=True),
        ],
    }
    plan = plan_of(rows)
    assert [
        (of_group(plan, name).broken, of_group(plan, name).undecided) for name in ("g_firm", "g_unsure", "g_weak")
    ] == [
        ((), ()),
        ((), ("SURVIVES_LOSS",)),
        (("SURVIVES_LOSS",), ()),
    ]


def test_a_recommendation_names_the_goals_and_mends_them_unless_it_only_looks() -> None:
    orphan = of_rule("ORPHAN_QUEUE", "CRITICAL")
    mended = plan_with(orphan, answers=[answering("ORPHAN_QUEUE")])
    assert (of_group(mended).mended, of_group(mended).after) == (("NO_ORPHAN",), 100.0)
    (one,) = mended.recommendations
    assert one.serves == ("NO_ORPHAN",)
    assert one.keeps == ("NOTHING_UNREAD", "ORDER_KEPT", "CAPACITY_AT_PEAK", "EVEN_LOAD", "NO_IDLE", "LITTLE_CHURN")

    looked = plan_with(orphan, answers=[answering("ORPHAN_QUEUE", "INVESTIGATE")])
    assert (of_group(looked).mended, of_group(looked).after) == ((), of_group(looked).before)


@pytest.mark.parametrize("seed", range(20))
def test_more_recommendations_never_lower_the_score_after(seed: int) -> None:
    rows = varied_rows(40)
    every = list(rows["recommendation"])
    drawn = random.Random(seed)
    drawn.shuffle(every)
    middle, last = sorted(drawn.sample(range(len(every) + 1), 2))
    fewer = plan_of(rows | {"recommendation": every[:middle]})
    more = plan_of(rows | {"recommendation": every[:last]})
    assert fewer.score is not None
    assert more.score is not None
    pairs = [
        (fewer.score, more.score),
        *zip((g.score for g in fewer.groups), (g.score for g in more.groups), strict=True),
    ]
    for less, other in pairs:
        assert less is not None
        assert other is not None
        assert less.before == other.before
        assert (less.after or 0.0) <= (other.after or 0.0)
        assert (less.after is None) == (other.after is None)
        assert less.before is None or (less.after is not None and less.before <= less.after)


def test_the_score_of_a_group_takes_less_than_a_fifth_of_a_millisecond() -> None:
    groups = [a_group(f"g_{n:05}", topics=[f"t_{n % 900}"], **FINE) for n in range(3_000)]
    findings = [of_rule("IDLE_CONSUMERS", "INFO", consumer_group=f"g_{n:05}") for n in range(0, 3_000, 3)]
    plan = plan_with(*findings, groups=groups)
    took = []
    for _ in range(5):
        start = time.process_time()
        scored(plan, None, ScorePolicy(), asks_rooms=False)
        took.append(time.process_time() - start)
    assert min(took) < 0.0002 * len(groups)


def test_the_page_has_one_table_that_says_how_the_score_came_about() -> None:
    rows = {"cluster": [a_cluster()], "group_status": [a_group("g_pay", topics=["pay"], **FINE)]}
    (table,) = with_class(read_page(page_of(rows | {"finding": [of_rule("ORPHAN_QUEUE")]})), "score")
    lines = cells_of(table)
    assert len(lines) == 1 + 8  # the goal of machine rooms is not asked
    assert lines[2] == ["Every queue has one owner (hard)", "0 / 23", "0", "0", "1", "0"]
    assert lines[5] == ["The loss of any one broker is survived (hard)", "unknown", "unknown", "0", "0", "1"]

    assert with_class(read_page(page_of({"cluster": [a_cluster()]})), "score") == []


def test_the_metrics_have_the_scores_that_are_known() -> None:
    def told(plan: Plan) -> list[str]:
        text = metrics_of(plan, Metrics()).decode()
        return [line.partition("} ")[2] for line in text.splitlines() if re.match(r"rocketmq_capacity_.*score", line)]

    assert told(plan_with(of_rule("ORPHAN_QUEUE"))) == ["77.0", "77.0", "1.0", "77.0"]
    assert told(plan_with(groups=[a_group("g_pay", **FINE | {"reading_status": "UNKNOWN"})])) == ["0.1724"]


@pytest.mark.parametrize(
    "weights", [{"NO_IDLE": -1.0}, {"NO_IDLE": float("nan")}, dict.fromkeys(ScoreWeights.model_fields, 0.0)]
)
def test_weights_that_make_no_score_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match=r"greater than|finite|expected at least one goal"):
        Policy.model_validate({"score": {"weights": weights}})
