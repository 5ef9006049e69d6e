import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.simulation.changes.add_broker import AddBroker
from rocketmq_capacity.simulation.changes.add_clients import AddClients
from rocketmq_capacity.simulation.changes.lose_broker import LoseBroker
from rocketmq_capacity.simulation.changes.lose_master import LoseMaster
from rocketmq_capacity.simulation.changes.lose_nameserver import LoseNameserver
from rocketmq_capacity.simulation.changes.lose_room import LoseRoom
from rocketmq_capacity.simulation.changes.read_only_broker import ReadOnlyBroker
from rocketmq_capacity.simulation.changes.remove_clients import RemoveClients
from rocketmq_capacity.simulation.changes.rolling_restart import RollingRestart
from rocketmq_capacity.simulation.changes.scale_traffic import ScaleTraffic
from rocketmq_capacity.simulation.changes.set_queues import SetQueues
from rocketmq_capacity.simulation.changes.set_request_mode import SetRequestMode
from rocketmq_capacity.simulation.changes.set_strategy import SetStrategy
from rocketmq_capacity.simulation.changes.slow_broker import SlowBroker
from rocketmq_capacity.simulation.changes.subscribe import Subscribe
from rocketmq_capacity.simulation.changes.unsubscribe import Unsubscribe
from rocketmq_capacity.simulation.scenario import Scenario, read_scenario

CONTRACT = """
    name: lose one client of g_pay
    changes:                    # applied in order to the snapshot, before anything is computed
      - {change: add_clients, consumer_group: g_pay, client_ids: [10.0.0.13@1#1]}
      - {change: remove_clients, consumer_group: g_pay, count: 2}
      - {change: set_queues, topic: pay, broker_name: broker-a, read_queue_nums: 6, write_queue_nums: 6}
      - {change: add_broker, broker_name: broker-c, broker_addr: '10.0.1.3:10911', topics_like: broker-a}
      - {change: lose_broker, broker_name: broker-b}
      - {change: read_only_broker, broker_name: broker-b}
      - {change: lose_room, room: hz}
      - {change: scale_traffic, topic: pay, factor: 2.0}
      - {change: set_strategy, consumer_group: g_pay, strategy: CONSISTENT_HASH}
      - {change: set_request_mode, consumer_group: g_pay, topic: pay, message_request_mode: POP, pop_share_queue_num: 8}
      - {change: lose_master, broker_name: broker-b}        # its slaves stay
      - {change: slow_broker, broker_name: broker-b, latency_ms: 800, for_s: 60}
      - {change: lose_nameserver, nameserver: '10.0.9.2:9876'}
      - {change: rolling_restart, consumer_group: g_pay, batch: 2, pause_s: 30, ending: SHUTDOWN}
      - {change: subscribe, consumer_group: g_pay, topic: refund, expression: '*'}
      - {change: unsubscribe, consumer_group: g_pay, topic: refund}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "what-if.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def read(folder: Path, text: str) -> Scenario:
    return read_scenario(written(folder, text))


def refusal(folder: Path, *changes: str) -> BadInput:
    text = "\n".join(["name: x", "changes:", *(f"  - {change}" for change in changes)])
    with pytest.raises(BadInput) as caught:
        read(folder, text)
    assert caught.value.source == str(folder / "what-if.yaml")
    assert "\n" not in str(caught.value)
    return caught.value


def test_the_scenario_of_the_contract_is_read_change_by_change(tmp_path: Path) -> None:
    scenario = read(tmp_path, CONTRACT)
    assert scenario.name == "lose one client of g_pay"
    assert [type(change) for change in scenario.changes] == [
        AddClients,
        RemoveClients,
        SetQueues,
        AddBroker,
        LoseBroker,
        ReadOnlyBroker,
        LoseRoom,
        ScaleTraffic,
        SetStrategy,
        SetRequestMode,
        LoseMaster,
        SlowBroker,
        LoseNameserver,
        RollingRestart,
        Subscribe,
        Unsubscribe,
    ]
    assert scenario.changes[0] == AddClients(
        change="add_clients", consumer_group="g_pay", client_ids=("10.0.0.13@1#1",), count=None
    )
    assert scenario.changes[5] == ReadOnlyBroker(change="read_only_broker", broker_name="broker-b")


def test_changes_are_repeated_with_the_keys_of_the_file(tmp_path: Path) -> None:
    told = read(tmp_path, CONTRACT).changes_as_written()
    assert told[0] == {"change": "add_clients", "consumer_group": "g_pay", "client_ids": ["10.0.0.13@1#1"]}
    assert told[7] == {"change": "scale_traffic", "topic": "pay", "factor": 2.0}
    assert read(tmp_path, f"{{name: again, changes: {told}}}").changes == read(tmp_path, CONTRACT).changes


def test_a_scenario_may_change_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "{name: as it is, changes: []}").changes == ()


def test_a_scenario_cannot_be_altered(tmp_path: Path) -> None:
    scenario: Any = read(tmp_path, CONTRACT)
    with pytest.raises(ValueError, match="frozen"):
        scenario.name = "another"
    with pytest.raises(ValueError, match="frozen"):
        scenario.changes[0].count = 2


def test_an_unknown_key_of_a_change_names_the_nearest_known_one_of_that_change(tmp_path: Path) -> None:
    error = refusal(tmp_path, "{change: add_clients, consumer_grup: g, count: 1}")
    assert (error.place, error.problem) == (
        "changes[0].consumer_grup",
        "is not a known key; the nearest known key is 'consumer_group'",
    )
    error = refusal(tmp_path, "{change: lose_room, room: hz}", "{change: lose_room, room: hz, broker_name: b}")
    assert (error.place, error.problem) == (
        "changes[1].broker_name",
        "is not a known key; the nearest known key is 'room'",
    )


def test_an_unknown_key_of_the_file_names_the_nearest_known_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"chnges: is not a known key; the nearest known key is 'changes'$"):
        read(tmp_path, "{name: x, chnges: []}")


def test_an_unknown_change_names_the_nearest_known_one(tmp_path: Path) -> None:
    error = refusal(tmp_path, "{change: remove_client, consumer_group: g, count: 1}")
    assert (error.place, error.problem) == (
        "changes[0].change",
        "'remove_client' is not a known change; the nearest known change is 'remove_clients'",
    )


def test_the_error_for_a_change_without_its_kind_lists_all_kinds(tmp_path: Path) -> None:
    error = refusal(tmp_path, "{consumer_group: g}")
    assert error.place == "changes[0].change"
    assert error.problem.startswith("is missing; expected one of add_broker, add_clients, lose_broker, lose_master")
    assert error.problem.endswith("unsubscribe")


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        ("{change: add_clients, consumer_group: g}", "", "either client_ids or count"),
        ("{change: remove_clients, consumer_group: g, count: 1, client_ids: [a]}", "", "either client_ids or count"),
        ("{change: add_clients, consumer_group: g, client_ids: [a, 7]}", ".client_ids[1]", "valid string; it is 7"),
        ("{change: add_clients, consumer_group: g, client_ids: ['']}", ".client_ids[0]", "at least 1 character"),
        ("{change: add_clients, consumer_group: g, client_ids: []}", ".client_ids", "expected at least one item"),
        ("{change: add_clients, consumer_group: g, client_ids: abc}", ".client_ids", "expected a list; it is 'abc'"),
        ("{change: add_clients, consumer_group: '', count: 1}", ".consumer_group", "at least 1 character"),
        ("{change: add_clients, consumer_group: g, count: 10001}", ".count", "less than or equal to 10000"),
        ("{change: add_clients, consumer_group: g, count: -1}", ".count", "greater than or equal to 0"),
        ("{change: add_clients, consumer_group: g, count: true}", ".count", "valid integer; it is True"),
        ("{change: add_clients, consumer_group: g, count: 1.5}", ".count", "valid integer; it is 1.5"),
        ("{change: add_clients, consumer_group: g, count: '2'}", ".count", "valid integer; it is '2'"),
        ("{change: set_queues, topic: t, read_queue_nums: 4}", ".write_queue_nums", "is missing"),
        ("{change: set_queues, topic: t, read_queue_nums: 4, write_queue_nums: 65537}", ".write_queue_nums", "65536"),
        ("{change: add_broker, broker_name: b}", ".topics_like", "is missing"),
        (
            "{change: add_broker, broker_name: b, broker_addr: '', topics_like: a}",
            ".broker_addr",
            "at least 1 character",
        ),
        ("{change: lose_broker}", ".broker_name", "is missing"),
        ("{change: lose_room, room: 3}", ".room", "valid string; it is 3"),
        ("{change: scale_traffic, factor: -0.1}", ".factor", "greater than or equal to 0"),
        ("{change: scale_traffic, factor: .nan}", ".factor", "finite number; it is nan"),
        ("{change: scale_traffic, factor: .inf}", ".factor", "finite number; it is inf"),
        ("{change: scale_traffic, factor: '2'}", ".factor", "valid number; it is '2'"),
        ("{change: set_strategy, consumer_group: g, strategy: POP}", ".strategy", "'CONSISTENT_HASH'; it is 'POP'"),
        (
            "{change: set_request_mode, consumer_group: g, topic: t, message_request_mode: PUSH}",
            ".message_request_mode",
            "'PULL' or 'POP'; it is 'PUSH'",
        ),
        (
            "{change: set_request_mode, consumer_group: g, topic: t, message_request_mode: POP, "
            "pop_share_queue_num: 2147483648}",
            ".pop_share_queue_num",
            "less than or equal to 2147483647",
        ),
        ("lose_room", "", "expected a mapping of keys; it is 'lose_room'"),
    ],
)
def test_a_value_that_is_not_what_is_expected_is_named_with_its_place(
    tmp_path: Path, change: str, place: str, says: str
) -> None:
    error = refusal(tmp_path, change)
    assert error.place == f"changes[0]{place}"
    assert says in error.problem


@pytest.mark.parametrize(
    ("change", "key", "bound"),
    [
        ("{change: add_clients, consumer_group: g, count: %s}", "count", 0),
        ("{change: add_clients, consumer_group: g, count: %s}", "count", 10_000),
        ("{change: set_queues, topic: t, read_queue_nums: %s, write_queue_nums: 0}", "read_queue_nums", 65_536),
        ("{change: scale_traffic, factor: %s}", "factor", 0),
    ],
)
def test_bounds_themselves_are_allowed(tmp_path: Path, change: str, key: str, bound: int) -> None:
    scenario = read(tmp_path, f"name: x\nchanges:\n  - {change % bound}")
    assert scenario.changes_as_written()[0][key] == bound


@pytest.mark.parametrize("clients", ["count: 5001", f"client_ids: [{'c, ' * 5_001}]"], ids=["counted", "named"])
def test_clients_of_all_changes_are_counted_together_before_any_is_made(tmp_path: Path, clients: str) -> None:
    half = f"{{change: add_clients, consumer_group: g, {clients}}}"

    error = refusal(tmp_path, half, half.replace("add", "remove"))

    assert error.place == "changes"
    assert error.problem.startswith("add and remove 10,002 clients together; expected at most 10,000")


def test_as_many_changes_and_clients_as_a_scenario_may_have_are_read(tmp_path: Path) -> None:
    change = "{change: add_clients, consumer_group: g, count: 100}"

    assert len(read(tmp_path, "\n  - ".join(["name: x\nchanges:", *[change] * 100])).changes) == 100
    error = refusal(tmp_path, *[change] * 101)
    assert error.place == "changes"
    assert error.problem.startswith("has 101 changes; expected at most 100")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "name: is missing"),
        ("{changes: []}", "name: is missing"),
        ("{name: x}", "changes: is missing"),
        ("{name: '', changes: []}", "name: String should have at least 1 character"),
        ("{name: 3, changes: []}", "name: Input should be a valid string; it is 3"),
        ("{name: x, changes: {}}", "changes: expected a list; it is {}"),
        ("[]", "is a list; expected a scenario file"),
        ("{name: x", "is not YAML"),
        ("\x00", "is not YAML"),
        ("{name: x, name: y, changes: []}", "key 'name' is given twice"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none.yaml: cannot be read .*; expected a scenario file"):
        read_scenario(tmp_path / "none.yaml")


def test_places_in_a_policy_read_as_before(tmp_path: Path) -> None:
    path = written(tmp_path, "rooms: {brokers: [{pattern: '^(?P<room>x)'}, {patern: x}]}")
    with pytest.raises(BadInput, match=r"rooms\.brokers\[1\]\.patern: is not a known key.*'pattern'$"):
        read_policy(path)
    path = written(tmp_path, "config_assignments: {g: {c: [{topic: t, broker_name: b}]}}")
    with pytest.raises(BadInput, match=r"config_assignments\.g\.c\[0\]\.queue_id: is missing"):
        read_policy(path)


def test_every_scenario_of_the_how_to_can_be_read(tmp_path: Path) -> None:
    how_to = Path(__file__).parents[2] / "include/docs/how-to/what-if.md"
    blocks = re.findall(r"^```yaml\n(.*?)^```", how_to.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert [len(read(tmp_path, block).changes) for block in blocks] == [2, 2, 1, 1]
    explained = set(re.findall(r"^\| `(\w+)` \|", how_to.read_text(encoding="utf-8"), re.MULTILINE))
    assert explained == {change["change"] for change in read(tmp_path, CONTRACT).changes_as_written()}
