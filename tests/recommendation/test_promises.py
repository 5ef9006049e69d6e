"""A recommendation keeps its word: a plan of the changed cluster says what the recommendation said it would."""

import random
from collections import Counter

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.assessment.judge import Judgement, Row, judge
from tests.recommendation.answers import Answers, answer
from tests.recommendation.random_cluster import followed, random_cluster, touched

SEEDS = (20_261_120, 1, 2, 3)
ROUNDS = 4
ROUNDING = 5.1e-5
"""What the plan shows has four decimals."""
POLICY = Policy(strategies=("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "POP"))
PROMISING = (
    "CHANGE_STRATEGY",
    "CREATE_TOPIC_ON_BROKER",
    "EXPAND_QUEUES",
    "FIX_CLIENT_ID",
    "RAISE_READ_QUEUES",
    "SCALE_CONSUMERS",
    "SWITCH_TO_POP",
)


@pytest.fixture(scope="module", params=SEEDS)
def by_chance(request: pytest.FixtureRequest) -> Inventory:
    return random_cluster(request.param, topics=36, groups=54)


@pytest.fixture(scope="module")
def recommended(by_chance: Inventory) -> Answers:
    return answer(by_chance, POLICY)


def _some(rows: list[Row], chance: random.Random, done: set[str]) -> list[Row]:
    """Recommendations of which no two concern one group or topic; what is new, and then what is rare, comes first."""
    able = [row for row in rows if row["action"] in PROMISING and not row["is_manual"]]
    chance.shuffle(able)
    actions = Counter(row["action"] for row in able)
    able.sort(key=lambda row: (row["id"] in done, actions[row["action"]]))
    chosen: list[Row] = []
    groups: set[str] = set()
    topics: set[str] = set()
    for row in able:
        if touched(row) & groups or row["topic"] in topics:
            continue
        chosen.append(row)
        groups |= touched(row)
        topics |= {row["topic"]} - {None}
    return chosen


def _kept(promised: Row, planned: Judgement, consumer_group: str) -> bool:
    """Compares what was promised to a group with its plan; False where it cannot be computed under one strategy."""
    status = planned.group(consumer_group)
    strategy = "POP" if status["message_request_mode"] == "POP" else status["current_strategy"]
    if strategy == "MIXED":
        return False
    load = planned.load(consumer_group, strategy)
    for name, shown in (("idle_clients", "idle"), ("orphan_queues",) * 2, ("doubly_owned_queues",) * 2):
        assert len(load[name]) == promised[shown], (consumer_group, name, load[name], promised)
    if load["count"] is None:
        assert promised["count"] is None
        return True
    for metric in ("peak", "floor", "excess", "gini", "cv"):
        # Popped queues have neither FLOOR nor EXCESS.
        shown = promised["count"][metric]
        assert load["count"].get(metric) == (shown and pytest.approx(shown, abs=ROUNDING)), (consumer_group, metric)
    return True


def _promises(row: Row) -> list[tuple[str, Row]]:
    if row["consumer_group"] is not None:
        return [(row["consumer_group"], row["after"])]
    return [(group["consumer_group"], group) for group in row["after"]["groups"]]


def test_what_is_promised_comes_true(by_chance: Inventory, recommended: Answers) -> None:
    chance = random.Random(SEEDS[0])
    idle = {
        row["consumer_group"]: row["subjects"] for row in recommended.judged.findings if row["rule"] == "IDLE_CONSUMERS"
    }
    done: set[str] = set()
    kept: Counter[str] = Counter()
    for _ in range(ROUNDS):
        rows = _some(recommended.rows, chance, done)
        done |= {row["id"] for row in rows}
        changed = followed(by_chance, rows, idle)
        planned = judge(changed, POLICY)
        layouts = {
            topic.topic: {q.broker_name: (q.read_queue_nums, q.write_queue_nums) for q in topic.queues or ()}
            for topic in changed.topics
        }
        for row in rows:
            if row["topic"] is not None:
                assert layouts[row["topic"]] == {
                    place["broker_name"]: (place["read_queue_nums"], place["write_queue_nums"])
                    for place in row["after"]["queues"]
                }
            kept[row["action"]] += sum(_kept(promised, planned, group) for group, promised in _promises(row))
    assert set(kept) == set(PROMISING)
    assert all(kept.values()), kept
    assert kept.total() >= 20


def test_what_a_recommendation_says_of_today_is_what_the_plan_says(recommended: Answers) -> None:
    compared = 0
    for row in recommended.rows:
        before = row["before"]
        if row["action"] in PROMISING:
            groups = (
                [{"consumer_group": row["consumer_group"], **before}] if row["consumer_group"] else before["groups"]
            )
            compared += sum(_kept(group, recommended.judged, group["consumer_group"]) for group in groups)
    assert compared >= 40


def test_no_group_is_promised_to_be_worse_off(recommended: Answers) -> None:
    for row in recommended.rows:
        if row["action"] not in PROMISING or row["action"] == "RAISE_READ_QUEUES":
            continue
        groups = dict(_promises(row))
        if row["consumer_group"] is not None:
            befores = {row["consumer_group"]: row["before"]}
        else:
            befores = {group["consumer_group"]: group for group in row["before"]["groups"]}
        assert befores.keys() == groups.keys()
        for name, before in befores.items():
            for kind in ("idle", "orphan_queues", "doubly_owned_queues"):
                # Whose consumers run different strategies as well may be worse off until that is mended too.
                is_mixed = recommended.judged.group(name)["current_strategy"] == "MIXED"
                if row["action"] != "FIX_CLIENT_ID" or (kind != "idle" and not is_mixed):
                    assert groups[name][kind] <= before[kind], (row["action"], name, kind)
            was, would_be = ((side["count"] or {}).get("excess") for side in (before, groups[name]))
            if was is not None and would_be is not None and row["action"] != "FIX_CLIENT_ID":
                bound = max(was, POLICY.thresholds.ALLOCATION_SKEW.excess)
                assert would_be <= bound + 1e-4, (row["action"], name)


def test_each_change_is_for_the_better(recommended: Answers) -> None:
    for row in recommended.rows:
        if row["rules"] == ["CROSS_TOPIC_SKEW"] and row["action"] == "SCALE_CONSUMERS":
            assert row["after"]["count"]["excess"] < row["before"]["count"]["excess"], row
        elif row["action"] in ("SCALE_CONSUMERS", "SWITCH_TO_POP"):
            assert row["after"]["idle"] < row["before"]["idle"], row
        if row["action"] == "EXPAND_QUEUES" and "IDLE_CONSUMERS" in row["rules"]:
            now, then = (sum(group["idle"] for group in row[side]["groups"]) for side in ("before", "after"))
            assert then < now, row
            assert f"idle clients of its groups go from {now} to {then}" in row["reason"]
        if row["action"] in ("EXPAND_QUEUES", "CREATE_TOPIC_ON_BROKER") and not row["is_manual"]:
            counts = {(q["read_queue_nums"], q["write_queue_nums"]) for q in row["after"]["queues"]}
            assert len(counts) == 1, row
