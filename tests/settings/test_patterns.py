"""Patterns of a policy are RE2's: no pattern and no name makes a search long, and what RE2 lacks is refused."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.patterns import LONGEST, found_group, is_found
from rocketmq_capacity.settings.policy import Exclude, Policy, read_policy
from rocketmq_capacity.settings.rooms import RoomRules
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.vocabulary import BUSINESS
from tests.cli.small_cluster import written

LARGE = [f"'(?P<room>{number}a{{999}})'" for number in range(9)]
FEW_LARGE = [f"'{number}[^a-y]{{500}}'" for number in range(60)]
ENDLESS = {
    "nested repeats": ("(?P<room>(a+)+)$", "a" * 255 + "!"),
    "choices that overlap": ("^(?P<room>(a|a)*)$", "a" * 255 + "!"),
    "one repeat after another": ("(?P<room>.*-.*-.*-.*-.*-.*)@", "-" * 2_000),
    "what may be left out": (f"(?P<room>{'.?' * 32})!", "a" * 255),
}
"""Python's engine needs minutes to years for each."""


@pytest.mark.parametrize(("pattern", "name"), ENDLESS.values(), ids=ENDLESS)
def test_a_pattern_that_another_engine_never_ends_is_searched_everywhere(
    tmp_path: Path, pattern: str, name: str
) -> None:
    rooms = RoomRules.model_validate({"clients": [{"pattern": pattern}], "brokers": [{"pattern": pattern}]})
    kinds = Kinds(read_inventory(written(tmp_path)), Exclude(topics=(pattern,), consumer_groups=(pattern,)))
    policy = Policy.model_validate({
        "groups": [{"match": pattern, "owner": "x"}],
        "placement": [{"topics": pattern, "brokers": ["b"]}],
        "brokers": [{"match": pattern}],
    })

    assert rooms.of_broker(name) is None
    assert rooms.of_client(name, None) is None
    assert kinds.of_topic(name) == kinds.of_group(name) == BUSINESS
    assert policy.group_entry(name).owner is None
    assert policy.placed_on(name) is None
    assert policy.broker(name) is None


@pytest.mark.parametrize(
    "name", ["hz-broker-1", "HZ", "", "é-x", "x-é-1", "日本-1", "\U0001f600-", "a\x00-b", "a-\ud800"]
)
@pytest.mark.parametrize(
    "pattern", ["^(?P<room>[a-z]+)-", "(?P<room>[^-]*)-", "(?i)(?P<room>É)", "(?P<room>x)|-", ".(?P<room>.)"]
)
def test_a_usual_search_finds_what_python_finds(pattern: str, name: str) -> None:
    expected = re.search(pattern, name)

    assert is_found(pattern, name) == (expected is not None)
    assert found_group(pattern, name, "room") == ((expected["room"] or None) if expected else None)


def test_a_policy_with_patterns_is_searched_in_many_threads_and_processes() -> None:
    rooms = RoomRules.model_validate({"clients": [{"pattern": "^(?P<room>[a-z]+)-"}]})
    copy: RoomRules = pickle.loads(pickle.dumps(rooms))

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda number: copy.of_client(f"hz-{number}", None), range(1_000)))

    assert found == ["hz"] * 1_000


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("^(?!bench_)", "invalid perl operator: (?!"),
        ("(?<=a)b", "invalid perl operator: (?<="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        (r"a\Z", r"invalid escape sequence: \Z"),
        ("a++", "bad repetition operator: ++"),
        (r"(\pL{30}){30}", "pattern too large - compile failed"),
    ],
)
def test_what_re2_lacks_is_refused_with_the_pattern_and_what_is_expected(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], pattern: str, reason: str
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"groups: [{{match: '{pattern}'}}]", encoding="utf-8")

    with pytest.raises(BadInput) as refused:
        read_policy(file)

    said = f"{file}: groups[0].match: pattern {pattern!r} is not a regular expression of RE2 ({reason}); expected RE2's"
    assert str(refused.value).startswith(said)
    assert capfd.readouterr() == ("", "")  # RE2 logs its errors unless it is told not to


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            f"exclude: {{topics: ['{'a' * (LONGEST + 1)}']}}",
            "exclude.topics: pattern is too long; expected at most 1,000",
        ),
        (
            f"rooms: {{brokers: [{{pattern: '(?P<room>{'a' * LONGEST})'}}]}}",
            "rooms.brokers[0]: pattern is too long; expected at most 1,000",
        ),
        (f"exclude: {{topics: [{', '.join(FEW_LARGE)}]}}", "exclude.topics: patterns are too large together"),
        (
            f"rooms: {{brokers: [{', '.join(f'{{pattern: {large}}}' for large in LARGE * 30)}]}}",
            "patterns are too large together (200,000 instructions); expected fewer or simpler ones",
        ),
        (f"exclude: {{topics: [{'a,' * 2_001}]}}", "exclude.topics: patterns are too large together"),
        (f"exclude: {{topics: ['(?P<{'é ' * 400}>a)']}}", "is not a regular expression of RE2 (invalid named capture"),
        ("rooms: {brokers: [{pattern: '(?P<room>a)|(?P<room>b)'}]}", "has the group (?P<room>…) more than once"),
    ],
    ids=["too long", "too long for a room", "large", "large for rooms", "many", "a long reason", "two groups"],
)
def test_patterns_that_cost_too_much_are_refused_with_their_place(tmp_path: Path, policy: str, said: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(policy, encoding="utf-8")

    with pytest.raises(BadInput) as refused:
        read_policy(file)

    assert str(refused.value).startswith(f"{file}: ")
    assert said in str(refused.value)
    assert "expected" in str(refused.value)


def test_a_policy_of_many_usual_patterns_is_read(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    rules = "\n".join(f"    - {{pattern: '^(?P<room>room{n})-[a-z0-9]+(-[^@]*)?@'}}" for n in range(300))
    file.write_text(f"rooms:\n  clients:\n{rules}", encoding="utf-8")

    rooms = read_policy(file).rooms

    assert rooms is not None
    assert rooms.of_client("room299-web@1#1", None) == "room299"
