"""Whatever is malformed in a policy is refused with its file and place; an unknown key with the nearest known one."""

from pathlib import Path

import pytest

from rocketmq_capacity.settings.policy import Policy, read_policy
from tests.cli.conftest import Refusal
from tests.cli.small_cluster import written

TOO_LARGE_FOR_A_PATTERN = 1_001

UNKNOWN_KEYS = [
    ("strategis: [AVG]", "strategis", "strategies"),
    ("Rooms: {}", "Rooms", "rooms"),
    ("proxy: []", "proxy", "proxies"),
    ("rooms: {broker: []}", "rooms.broker", "brokers"),
    ("rooms: {brokers: [{broker: a, room: hz}]}", "rooms.brokers[0].broker", "broker_name"),
    ("rooms: {clients: [{cdir: 10.1.0.0/16, room: hz}]}", "rooms.clients[0].cdir", "cidr"),
    ("exclude: {groups: []}", "exclude.groups", "consumer_groups"),
    ("consistent_hash: {virtualNodes: 10}", "consistent_hash.virtualNodes", "virtual_nodes"),
    ("group: []", "group", "groups"),
    ("groups: [{match: a, owners: b}]", "groups[0].owners", "owner"),
    ("groups: [{match: a, max_lag: 60}]", "groups[0].max_lag", "max_lag_s"),
    ("accept: []", "accept", "accepted"),
    ("accepted: [{rule: LAG_STATE, topics: a}]", "accepted[0].topics", "topic"),
    ("freeze: [{form: 2026-12-20}]", "freeze[0].form", "from"),
    ("snapshot: {samples_count: 3}", "snapshot.samples_count", "sample_count"),
    ("thresholds: {IDLE_CONSUMER: {}}", "thresholds.IDLE_CONSUMER", "IDLE_CONSUMERS"),
    ("thresholds: {HOT_QUEUES: {peak: 3}}", "thresholds.HOT_QUEUES", "HOT_QUEUE"),
    ("thresholds: {TRAFFIC_SKEW: {peaks: 3}}", "thresholds.TRAFFIC_SKEW.peaks", "peak"),
    (
        "config_assignments: {g: {c: [{topic: a, broker: b, queue_id: 0}]}}",
        "config_assignments.g.c[0].broker",
        "broker_name",
    ),
]

WRONG_VALUES = [
    ("accepted: [{rule: LAG_STAT, topic: a, by: b, why: c, until: 2027-03-01}]", "accepted[0].rule"),
    ("strategies: AVG", "strategies"),
    ("strategies: []", "strategies"),
    ("strategies: [AVG, AVG]", "strategies"),
    ("strategies: [AVERAGE]", "strategies[0]"),
    ("strategies: [AVG, MACHINE_ROOM_NEARBY]", "strategies[1]"),
    ("strategies: [yes]", "strategies[0]"),
    ("strategies:", "strategies"),
    ("rooms: []", "rooms"),
    ("rooms: {brokers: [broker-a]}", "rooms.brokers[0]"),
    ("rooms: {brokers: [{broker_name: a}]}", "rooms.brokers[0]"),
    ("rooms: {brokers: [{}]}", "rooms.brokers[0]"),
    ("rooms: {brokers: [{pattern: '(?P<room>a)', broker_name: b}]}", "rooms.brokers[0]"),
    ("rooms: {brokers: [{pattern: '(?P<room>a)', room: hz}]}", "rooms.brokers[0]"),
    ("rooms: {clients: [{cidr: 10.1.0.0/16}]}", "rooms.clients[0]"),
    ("machine_rooms: hz", "machine_rooms"),
    ("machine_rooms: [1]", "machine_rooms[0]"),
    ("config_assignments: []", "config_assignments"),
    ("config_assignments: {g: [x]}", "config_assignments.g"),
    ("config_assignments: {g: {c: [{topic: a, broker_name: b}]}}", "config_assignments.g.c[0].queue_id"),
    (
        "config_assignments: {g: {c: [{topic: a, broker_name: b, queue_id: -1}]}}",
        "config_assignments.g.c[0].queue_id",
    ),
    (
        "config_assignments: {g: {c: [{topic: a, broker_name: b, queue_id: '0'}]}}",
        "config_assignments.g.c[0].queue_id",
    ),
    ("current_strategies: {default: BEST}", "current_strategies.default"),
    ("current_strategies: {g_pay: Avg}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {class: com.acme.Own}}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {jar: own.jar}}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {class: com acme, jar: own.jar}}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {class: com.acme.Own, jar: []}}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {class: com.acme.Own, jar: own.jar, url: x}}", "current_strategies.g_pay"),
    ("current_strategies: {g_pay: {class: com.acme.Own, jar: nowhere.jar}}", "current_strategies.g_pay.jar"),
    ("current_strategies: {default: {class: com.acme.Own, jar: own.jar}}", "current_strategies.default"),
    ("thresholds: {PRODUCER_BALANCE: {dispersion: '1'}}", "thresholds.PRODUCER_BALANCE.dispersion"),
    ("thresholds: {REBALANCE_FREQUENCY: {window_h: 1.0e+300}}", "thresholds.REBALANCE_FREQUENCY.window_h"),
    ("consistent_hash: 10", "consistent_hash"),
    ("consistent_hash: {virtual_nodes: -1}", "consistent_hash.virtual_nodes"),
    ("consistent_hash: {virtual_nodes: 1.5}", "consistent_hash.virtual_nodes"),
    ("consistent_hash: {virtual_nodes: '10'}", "consistent_hash.virtual_nodes"),
    ("consistent_hash: {virtual_nodes: true}", "consistent_hash.virtual_nodes"),
    ("exclude: {topics: '^a'}", "exclude.topics"),
    ("accepted: {rule: LAG_STATE}", "accepted"),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, why: c}]", "accepted[0].until"),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, until: 2027-03-01}]", "accepted[0].why"),
    ("accepted: [{rule: LAG_STATE, topic: a, why: c, until: 2027-03-01}]", "accepted[0].by"),
    ("accepted: [{rule: LAG_STATE, by: b, why: c, until: 2027-03-01}]", "accepted[0]"),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, why: c, until: 20270301}]", "accepted[0].until"),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, why: c, until: soon}]", "accepted[0].until"),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, why: c, until: 2027-03-01T00:00:00Z}]", "accepted[0].until"),
    (
        "accepted: [{rule: LAG_STATE, topic: a, by: b, why: c, until: 2027-03-01, severity: BAD}]",
        "accepted[0].severity",
    ),
    ("accepted: [{rule: LAG_STATE, topic: a, by: b, why: ' ', until: 2027-03-01}]", "accepted[0].why"),
    ("freeze: {from: 2026-12-20}", "freeze"),
    ("freeze: [{from: 2026-12-20, to: 2027-01-03}]", "freeze[0].why"),
    ("freeze: [{from: 2026-12-20, why: c}]", "freeze[0].to"),
    ("freeze: [{from: 7, to: 2027-01-03, why: c}]", "freeze[0].from"),
    ("freeze: [{from: 2027-01-03, to: 2026-12-20, why: c}]", "freeze[0]"),
    ('freeze: [{from: 2026-12-20, to: 2027-01-03, why: "a\\nb"}]', "freeze[0].why"),
    ("groups: {match: a}", "groups"),
    ("groups: [a]", "groups[0]"),
    ("groups: [{owner: payments}]", "groups[0].match"),
    ("groups: [{match: ''}]", "groups[0].match"),
    ("groups: [{match: a, owner: ''}]", "groups[0].owner"),
    ("groups: [{match: a, owner: 7}]", "groups[0].owner"),
    ("groups: [{match: a, tier: -1}]", "groups[0].tier"),
    ("groups: [{match: a, tier: '1'}]", "groups[0].tier"),
    ("groups: [{match: a, max_lag_s: 0}]", "groups[0].max_lag_s"),
    ("groups: [{match: a, max_lag_s: .inf}]", "groups[0].max_lag_s"),
    ("groups: [{match: a, min_clients: 0}]", "groups[0].min_clients"),
    ("groups: [{match: a, standby: -1}]", "groups[0].standby"),
    ("groups: [{match: a, schedule: 6-22}]", "groups[0].schedule"),
    ("groups: [{match: a, schedule: '0 24 * * *'}]", "groups[0].schedule"),
    ("proxies: 10.0.8.1:8080", "proxies"),
    ("proxies: {a: 10.0.8.1:8080}", "proxies"),
    ("proxies: ['10.0.8.1:8080', 10.0.8.2]", "proxies[1]"),
    ("proxies: ['10.0.8.1:65536']", "proxies[0]"),
    ("proxies: [8080]", "proxies[0]"),
    ("proxies:", "proxies"),
    ("snapshot: {sample_count: 0}", "snapshot.sample_count"),
    ("snapshot: {sample_interval_s: -1}", "snapshot.sample_interval_s"),
    ("snapshot: {sample_interval_s: .nan}", "snapshot.sample_interval_s"),
    ("thresholds: []", "thresholds"),
    ("thresholds: {IDLE_CONSUMERS: 0.5}", "thresholds.IDLE_CONSUMERS"),
    ("thresholds: {IDLE_CONSUMERS: {warning_ratio: 1.5}}", "thresholds.IDLE_CONSUMERS.warning_ratio"),
    ("thresholds: {ALLOCATION_SKEW: {excess: .nan}}", "thresholds.ALLOCATION_SKEW.excess"),
    ("thresholds: {ALLOCATION_SKEW: {excess: .inf}}", "thresholds.ALLOCATION_SKEW.excess"),
    ("thresholds: {ALLOCATION_SKEW: {min_gap_queues: two}}", "thresholds.ALLOCATION_SKEW.min_gap_queues"),
    ("thresholds: {ALLOCATION_SKEW: {min_gap_queues: 2147483648}}", "thresholds.ALLOCATION_SKEW.min_gap_queues"),
    ("thresholds: {LOW_UTILISATION: {min_lag: 9223372036854775808}}", "thresholds.LOW_UTILISATION.min_lag"),
    ("thresholds: {HOT_QUEUE: {peak: '2'}}", "thresholds.HOT_QUEUE.peak"),
    ("thresholds: {HOT_QUEUE: {peak: yes}}", "thresholds.HOT_QUEUE.peak"),
    ("thresholds: {HOT_QUEUE: {peak: }}", "thresholds.HOT_QUEUE.peak"),
]

BAD_PATTERNS = [
    ("groups: [{match: a}, {match: '('}]", "groups[1].match"),
    ("exclude: {topics: ['^bench_', '(']}", "exclude.topics"),
    ("exclude: {consumer_groups: ['*']}", "exclude.consumer_groups"),
    (f"exclude: {{topics: ['a{{{TOO_LARGE_FOR_A_PATTERN}}}']}}", "exclude.topics"),
    ("rooms: {brokers: [{pattern: '^(?P<room>[^@]+@'}]}", "rooms.brokers[0]"),
    (f"rooms: {{clients: [{{pattern: '(?P<room>a){{{TOO_LARGE_FOR_A_PATTERN}}}'}}]}}", "rooms.clients[0]"),
]

NO_YAML = [
    ("strategies: [AVG", "line 1: is not YAML"),
    ("rooms:\n\tbrokers: []", "line 2: is not YAML"),
    ("a: b: c", "line 1: is not YAML"),
    ("strategies: [AVG]\nstrategies: [POP]", "line 2: is not YAML (key 'strategies' is given twice)"),
    ("strategies: *other", "line 1: has an anchor or an alias"),
    ("exclude: {}\nstrategies: &all [AVG]", "line 2: has an anchor or an alias"),
    ("rooms: {<<: {brokers: []}}", "line 1: is not YAML"),
    ("strategies: !mine [AVG]", "line 1: is not YAML (the tag !mine is not known)"),
    ("strategies: !!python/object/apply:os.system [exit]", "line 1: is not YAML"),
    ("machine_rooms:\n- 2026-13-45", "line 2: is not YAML ('2026-13-45' is not a valid timestamp)"),
    ("consistent_hash: {virtual_nodes: !!int ten}", "line 1: is not YAML ('ten' is not a valid int)"),
    ("? [a]\n: b", "line 1: is not YAML (a key is not a plain value)"),
    ("exclude: {}\n---\nexclude: {}", "line 2: is not YAML"),
    ("strategies: '\x01'", "is not YAML (unacceptable character"),
    ("[" * 5_000, "line 1: is nested too deeply; expected at most 32 levels"),
    ("strategies:\n- " + "[" * 30 + "]" * 30, "strategies[0]"),
    ("machine_rooms:\n- " + "- " * 31 + "a", "line 2: is nested too deeply"),
    (f"retention: {{days: {'9' * 101}}}", "line 1: is not YAML ('999"),
    (f"retention: {{days: 0x{'f' * 50_000}}}", "line 1: is not YAML ('0xfff"),
    (f"retention: {{days: 1{':59' * 50_000}}}", "line 1: is not YAML ('1:59:59"),
    ("- AVG", "is a list; expected a policy file, a mapping of keys"),
    ("AVG", "is a str; expected a policy file, a mapping of keys"),
]


def refused(refusal: Refusal, folder: Path, text: str) -> str:
    """The refusal of a plan by the policy, without its beginning, the file's name."""
    policy = folder / "policy.yaml"
    policy.write_text(text, encoding="utf-8")
    line = refusal("plan", "--inventory", written(folder), "--out", folder / "out", "--policy", policy)
    assert line.startswith(f"{policy}: ")
    return line.removeprefix(f"{policy}: ")


@pytest.mark.parametrize(("text", "place", "nearest"), UNKNOWN_KEYS)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(
    refusal: Refusal, tmp_path: Path, text: str, place: str, nearest: str
) -> None:
    said = refused(refusal, tmp_path, text)
    assert said == f"{place}: is not a known key; the nearest known key is {nearest!r}"


@pytest.mark.parametrize(("text", "place"), WRONG_VALUES)
def test_a_value_that_is_not_allowed_is_refused(refusal: Refusal, tmp_path: Path, text: str, place: str) -> None:
    assert refused(refusal, tmp_path, text).startswith(f"{place}: ")


@pytest.mark.parametrize(("text", "place"), BAD_PATTERNS)
def test_a_pattern_that_is_no_regular_expression_is_refused(
    refusal: Refusal, tmp_path: Path, text: str, place: str
) -> None:
    said = refused(refusal, tmp_path, text)
    assert said.startswith(f"{place}: pattern '")
    assert "is not a regular expression of RE2 (" in said


def test_a_room_pattern_has_to_name_the_room(refusal: Refusal, tmp_path: Path) -> None:
    said = refused(refusal, tmp_path, "rooms: {brokers: [{pattern: '^([^@]+)@'}]}")
    assert said.startswith("rooms.brokers[0]: pattern has no group (?P<room>…)")


@pytest.mark.parametrize("network", ["10.1.0.0/33", "10.1", "somewhere", ""])
def test_what_is_no_network_is_refused(refusal: Refusal, tmp_path: Path, network: str) -> None:
    said = refused(refusal, tmp_path, f"rooms: {{clients: [{{cidr: '{network}', room: hz}}]}}")
    assert said.startswith(f"rooms.clients[0].cidr: {network!r} is not a network")


def test_a_number_is_no_network(refusal: Refusal, tmp_path: Path) -> None:
    said = refused(refusal, tmp_path, "rooms: {clients: [{cidr: 10, room: hz}]}")
    assert said.startswith("rooms.clients[0].cidr: 10 is not a network")


@pytest.mark.parametrize(("text", "said"), NO_YAML)
def test_what_is_no_yaml_is_refused_with_the_line(refusal: Refusal, tmp_path: Path, text: str, said: str) -> None:
    assert refused(refusal, tmp_path, text).startswith(said)


def test_a_policy_that_is_not_utf_8_is_refused(refusal: Refusal, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_bytes("machine_rooms: [é]".encode("latin-1"))
    line = refusal("plan", "--inventory", written(tmp_path), "--out=out", "--policy", policy)
    assert line == f"{policy}: byte 16: is not UTF-8; expected UTF-8 text"


def test_a_snapshot_too_reads_its_policy_first(refusal: Refusal, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("snapshot: {sample_count: many}")
    line = refusal("snapshot", "--nameserver=127.0.0.1:1", "--out=inventory.json", "--policy", policy)
    assert line.startswith(f"{policy}: snapshot.sample_count: ")


@pytest.mark.parametrize("text", ["", "# nothing is decided otherwise\n", "{}", "thresholds: {}"])
def test_a_policy_that_decides_nothing_is_every_default(tmp_path: Path, text: str) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(text)
    assert read_policy(policy) == Policy()
