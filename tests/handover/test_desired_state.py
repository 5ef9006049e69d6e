"""desired_state.yaml and its patches: what Git makes of them is the cluster in which the commands were run."""

import json
import random
from pathlib import Path
from typing import Any, Final

import jsonschema
import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rocketmq_capacity.handover.flow_yaml import scalar
from rocketmq_capacity.plan_file.desired_state import DesiredState
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import GroupSettings, Inventory
from tests.assessment.cases import a_group, a_topic, members
from tests.handover.planned import answered, applied, git, handed, handed_of, lasting, planned
from tests.recommendation.cases import broker, java_members
from tests.recommendation.random_cluster import followed, random_cluster
from tests.recommendation.test_hostile_names import NAMES, OBEYED
from tests.recommendation.test_shrink_queues import FEW, a_cluster, daily
from tests.simulation.clusters import cluster, queues

DOCS: Final = Path(__file__).parents[2] / "include/docs"
WITH_POP: Final = Policy(strategies=("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "POP"))
BROKERS: Final = tuple(broker(name) for name in ("broker-a", "broker-b"))
PLAIN: Final[dict[str, Any]] = {"order": False, "message_type": "NORMAL"}
TWO: Final = (queues("broker-a", 2), queues("broker-b", 2))

WORDS: Final = ("null", "NO", "y", "Off", "1e3", "0x1", "~", "-", "=", "<<", "a: b", "#", "2026-11-20")


def by_schema(name: str, value: Any) -> None:
    validator = jsonschema.Draft202012Validator(json.loads((DOCS / name).read_bytes()))
    validator.validate(value)


def idle(name: str = "idle", *, clients: int = 8, **facts: Any) -> Inventory:
    """A topic whose group has more clients than queues."""
    topic = a_topic(name, *TWO, **PLAIN | facts)
    return cluster([topic], [a_group("g_idle", java_members(clients), [topic])], BROKERS)


def short(*names: str) -> Inventory:
    """Topics with queues that nobody can read."""
    topics = [a_topic(name, queues("broker-a", 2, 4), queues("broker-b", 4), **PLAIN) for name in names]
    return cluster(topics, [], BROKERS)


@pytest.mark.parametrize("seed", [20_261_120, 7])
def test_after_git_has_applied_it_the_file_is_that_of_the_cluster_in_which_the_commands_were_run(
    seed: int, tmp_path: Path
) -> None:
    before = random_cluster(seed, topics=36, groups=54)
    made = handed(before, WITH_POP)
    chosen = {one["recommendation"] for one in made.differences["differences"] if one["chosen"]}
    rows = [msgspec.to_builtins(one) for one in made.plan.recommendations if one.id in chosen]
    after = followed(before, rows, {})

    assert {row["action"] for row in rows} >= {"EXPAND_QUEUES", "RAISE_READ_QUEUES", "CREATE_TOPIC_ON_BROKER"}
    assert lasting(applied(made.state, made.differences["patch"], tmp_path)) == lasting(handed(after).state)


@pytest.mark.parametrize("seed", [20_261_120, 7])
def test_patches_of_recommendations_apply_one_by_one_in_any_order(seed: int, tmp_path: Path) -> None:
    made = handed(random_cluster(seed, topics=36, groups=54), WITH_POP)
    patches = [one["patch"] for one in made.differences["differences"] if one["chosen"]]
    random.Random(seed).shuffle(patches)
    state = made.state
    for patch in patches:
        state = applied(state, patch, tmp_path)

    assert len(patches) > 5
    assert state == applied(made.state, made.differences["patch"], tmp_path)


def test_a_patch_applies_to_the_file_of_a_later_plan_and_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    made = handed(short("early", "late"))
    later = made.state.replace('taken_at: "2026-11-20T02:00:00Z"', 'taken_at: "2026-11-21T02:00:00Z"')
    assert later != made.state
    folder = tmp_path / "clusters" / "C1"
    folder.mkdir(parents=True)
    (folder / "desired_state.yaml").write_text(later, "utf-8")
    git("init", "--quiet", folder=tmp_path)
    patch = made.difference("RAISE_READ_QUEUES", "late")["patch"]
    git("apply", "--directory=clusters/C1", folder=tmp_path, given=patch)

    assert "read_queue_nums: 2" in later
    assert (folder / "desired_state.yaml").read_text("utf-8").count("read_queue_nums: 2") == 1


def test_where_nothing_is_recommended_there_is_no_difference() -> None:
    made = handed(idle(clients=4))

    assert (made.differences["patch"], made.differences["differences"], made.differences["left_out"]) == ("", [], [])


def test_the_file_says_what_brokers_have_and_its_types_and_schemas_say_so_too() -> None:
    made = handed(idle())
    state = yaml.safe_load(made.state)

    assert (state["cluster_name"], state["taken_at"]) == ("C1", "2026-11-20T02:00:00Z")
    assert state["topics"] == [
        {
            "topic": "idle",
            "message_type": "NORMAL",
            "order": False,
            "queues": [
                {"broker_name": name, "read_queue_nums": 2, "write_queue_nums": 2, "perm": 6}
                for name in ("broker-a", "broker-b")
            ],
        }
    ]
    (group,) = state["consumer_groups"]
    assert (group["consumer_group"], group["message_model"]) == ("g_idle", "CLUSTERING")
    (read,) = group["subscriptions"]
    assert (read["topic"], read["message_request_mode"], read["pop_share_queue_num"]) == ("idle", "PULL", None)
    msgspec.convert(state, DesiredState, strict=True)
    by_schema("desired-state.schema.json", state)
    by_schema("desired-state-differences.schema.json", made.differences)


def test_settings_of_a_group_are_by_brokers_that_have_the_same() -> None:
    usual = {"consume_enable": True, "consume_broadcast_enable": True, "consume_message_orderly": False}
    ten = GroupSettings(broker_names=("broker-b", "broker-a"), retry_queue_nums=2, retry_max_times=10, **usual)
    none = GroupSettings(broker_names=("broker-c",), consume_enable=False)
    group = a_group("g", members(1), [a_topic("pay", *TWO, **PLAIN)], settings=(none, ten))
    state = yaml.safe_load(handed(cluster([a_topic("pay", *TWO, **PLAIN)], [group], BROKERS)).state)

    (only,) = state["consumer_groups"]
    first, second = only["settings"]
    names = ["broker-a", "broker-b"]
    assert first == {"broker_names": names, **usual, "retry_queue_nums": 2, "retry_max_times": 10}
    assert (second["broker_names"], second["consume_enable"], second["retry_max_times"]) == (["broker-c"], False, None)
    by_schema("desired-state.schema.json", state)


def test_systems_topics_what_is_excluded_and_what_no_broker_has_are_left_out() -> None:
    names = ("pay", "bench_1", "%RETRY%g", "%DLQ%g", "SCHEDULE_TOPIC_XXXX")
    topics = [a_topic(name, *TWO, **PLAIN) for name in names]
    groups = [a_group(name, members(1), topics) for name in ("g", "g_bench", "CID_ONSAPI_OWNER")]
    inventory = cluster(topics[:-1], groups, BROKERS)
    excluding = Policy.model_validate({"exclude": {"topics": ["^bench_"], "consumer_groups": ["_bench$"]}})
    state = yaml.safe_load(handed(inventory, excluding).state)

    assert [topic["topic"] for topic in state["topics"]] == ["pay"]
    assert [group["consumer_group"] for group in state["consumer_groups"]] == ["g"]
    assert [read["topic"] for read in state["consumer_groups"][0]["subscriptions"]] == ["pay"]


def test_what_is_unknown_is_null_and_never_a_guess() -> None:
    topic = a_topic("pay", queues("broker-a", None, None, perm=None), queues("broker-b", 2, perm=4), order=None)
    hiding = cluster([topic], [a_group("g", [], [topic], message_model=None)], [broker("broker-b", broker_perm=4)])
    state = yaml.safe_load(handed(hiding).state)

    (only,) = state["topics"]
    assert only["order"] is None
    unknown = {"read_queue_nums": None, "write_queue_nums": None, "perm": None}
    # The broker takes no writes, so nobody knows whether the topic would.
    assert only["queues"] == [
        {"broker_name": "broker-a", **unknown},
        {"broker_name": "broker-b", "read_queue_nums": 2, "write_queue_nums": 2, "perm": None},
    ]
    assert state["consumer_groups"][0]["message_model"] is None


def test_of_alternatives_the_first_is_chosen_and_each_has_a_patch(tmp_path: Path) -> None:
    inventory = idle()
    plan = planned(inventory, WITH_POP)
    sized = tuple(replace(one, provision_status="OVER_PROVISIONED") for one in plan.groups)
    made = handed_of(replace(plan, groups=sized), inventory, WITH_POP)
    both = {one["action"]: one for one in made.differences["differences"]}

    assert set(both) == {"EXPAND_QUEUES", "SWITCH_TO_POP"}
    assert [one["chosen"] for one in both.values()].count(True) == 1
    (other,) = (one for one in both.values() if not one["chosen"])
    (first,) = (one for one in both.values() if one["chosen"])
    assert f"its alternative {first['recommendation']} comes first" in other["why_not"]
    assert made.differences["patch"] == first["patch"]
    popped = yaml.safe_load(applied(made.state, both["SWITCH_TO_POP"]["patch"], tmp_path))
    (read,) = popped["consumer_groups"][0]["subscriptions"]
    assert (read["message_request_mode"], read["pop_share_queue_num"]) == ("POP", 8)


def test_of_two_for_one_topic_the_first_is_chosen() -> None:
    topic = a_topic("pay", queues("broker-a", 2), **PLAIN)
    inventory = cluster([topic], [a_group("g_idle", members(8), [topic])], BROKERS)
    made = handed(inventory)
    create, expand = made.difference("CREATE_TOPIC_ON_BROKER", "pay"), made.difference("EXPAND_QUEUES", "pay")

    assert (create["chosen"], expand["chosen"]) == (True, False)
    assert expand["why_not"].startswith(f"{create['recommendation']} changes the same topic or group")
    assert made.differences["patch"] == create["patch"]
    approved = handed_of(answered(made.plan, (create["recommendation"], expand["recommendation"]), ()), inventory)
    assert approved.differences["differences"] == made.differences["differences"]


def test_a_shrink_in_steps_has_a_patch_to_its_end() -> None:
    now = a_cluster()
    made = handed(now, FEW, daily(now))
    found = made.difference("SHRINK_QUEUES", "pay")

    counts = [(one["to"]["read_queue_nums"], one["to"]["write_queue_nums"]) for one in found["changes"]]
    assert counts == [(2, 2), (2, 2)]
    assert found["chosen"]
    (recommended,) = (one for one in made.plan.recommendations if one.action == "SHRINK_QUEUES")
    assert len(recommended.steps or ()) == 4


def test_what_a_person_must_decide_has_no_patch() -> None:
    made = handed(idle(order=True, message_type="FIFO"))

    (why,) = {made.left_out[one.id] for one in made.plan.recommendations if one.action == "EXPAND_QUEUES"}
    assert why == "a person has to decide or to fill in something first"
    assert made.differences["patch"] == ""


def test_in_a_freeze_nothing_has_a_patch() -> None:
    freeze = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-22T00:00:00Z", "why": "the sale"}
    made = handed(short("pay"), Policy.model_validate({"freeze": [freeze]}))

    assert (made.differences["differences"], len(made.left_out)) == ([], 1)


def test_a_group_that_the_plan_is_undecided_about_has_no_patch() -> None:
    inventory = idle()
    plan = planned(inventory, WITH_POP)
    undecided = replace(plan, groups=tuple(replace(one, provision_status="UNDECIDED") for one in plan.groups))
    moving = tuple(
        replace(one, transition_undecided="UNDECIDED: not of g_idle") if one.topic == "idle" else one
        for one in undecided.recommendations
    )
    made = handed_of(replace(undecided, recommendations=moving), inventory, WITH_POP)

    assert made.differences["differences"] == []
    assert set(made.left_out.values()) == {
        "the plan is UNDECIDED about g_idle",
        "UNDECIDED: it is not known of every group which queues move",
    }


def test_with_an_answer_what_was_approved_is_chosen_and_what_was_rejected_has_no_patch() -> None:
    inventory = short("a", "b", "c")
    plan = planned(inventory)
    a, b, c = (one.id for one in plan.recommendations if one.action == "RAISE_READ_QUEUES")
    made = handed_of(answered(plan, (b,), (c,)), inventory)

    assert {one["recommendation"]: one["chosen"] for one in made.differences["differences"]} == {a: False, b: True}
    assert made.left_out == {c: "rejected: tonight"}


def test_the_same_cluster_gives_the_same_bytes_in_whatever_order_it_is_told() -> None:
    inventory = random_cluster(3, topics=12, groups=12)
    turned = replace(
        inventory,
        brokers=inventory.brokers[::-1],
        topics=tuple(replace(one, queues=(one.queues or ())[::-1]) for one in inventory.topics[::-1]),
        consumer_groups=inventory.consumer_groups[::-1],
    )
    first, second = handed(inventory), handed(turned)

    assert first.state == second.state
    assert first.differences == second.differences


@pytest.mark.parametrize("name", [*NAMES, *OBEYED])
def test_a_hostile_name_is_a_name_in_the_file_and_in_its_patches(name: str, tmp_path: Path) -> None:
    made = handed(short(name, "other"))

    assert sorted(topic["topic"] for topic in yaml.safe_load(made.state)["topics"]) == sorted([name, "other"])
    assert made.state.isascii()
    if name in OBEYED:  # its command is a comment
        assert [one["changes"][0]["path"][1] for one in made.differences["differences"]] == ["other"]
        return
    then = yaml.safe_load(applied(made.state, made.difference("RAISE_READ_QUEUES", name)["patch"], tmp_path))
    raised = {topic["topic"]: topic["queues"][0]["read_queue_nums"] for topic in then["topics"]}
    assert raised == {name: 4, "other": 2}


@given(st.one_of(st.text(), st.sampled_from(WORDS)))
def test_a_text_is_that_text_in_yaml_and_one_line(text: str) -> None:
    written = scalar(text)

    assert yaml.safe_load(f"- {{name: {written}, next: 1}}\n") == [{"name": text, "next": 1}]
    assert written.isprintable()
    assert written.isascii()
