"""Patterns of a policy end: what they match is as Python has it, and what takes too long is refused with its place."""

import re
import signal
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.patterns import LONGEST, search
from rocketmq_capacity.settings.policy import Exclude, read_policy
from rocketmq_capacity.settings.rooms import Rooms
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.snapshot.kinds import Kinds
from tests.cli.small_cluster import written

EVERY_CHARACTER = "[\\0-\\U0010ffff]"
"""As YAML writes it in double quotes; a set that ignores case takes milliseconds to compile, each time."""
SLOW = [f'"(?i)(?P<room>{number}{EVERY_CHARACTER * 150})"' for number in range(9)]
ENDLESS = {
    "nested repeats": ("(a+)+$", "a" * 60 + "!"),
    "choices that overlap": ("(a|a)*$", "a" * 60 + "!"),
    "one repeat after another": (".*-.*-.*-.*-.*-.*@", "-" * 2_000),
}


@pytest.mark.parametrize(("pattern", "name"), ENDLESS.values(), ids=ENDLESS)
def test_a_search_that_takes_too_long_ends_and_names_the_pattern_and_the_name(pattern: str, name: str) -> None:
    before = signal.getsignal(signal.SIGVTALRM)

    with pytest.raises(BadInput, match="takes longer than 1 s over ") as refused:
        search(re.compile(pattern), name)

    assert str(refused.value).startswith(f"the policy: pattern {pattern!r}: ")
    assert name[:100] in str(refused.value)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@pytest.mark.parametrize("name", ["hz-broker-1", "HZ", "", "é-x"])
def test_a_usual_search_finds_what_python_finds(name: str) -> None:
    pattern = re.compile(r"^(?P<room>\w+)-(?!x)")
    found, expected = search(pattern, name), pattern.search(name)

    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.slow
def test_rooms_and_exclusions_are_searched_so(tmp_path: Path) -> None:
    rooms = Rooms.model_validate({
        "clients": [{"pattern": "(?P<room>(a+)+)$"}],
        "brokers": [{"pattern": "(?P<room>(a+)+)$"}],
    })
    exclude = Exclude(topics=("(a+)+$",), consumer_groups=("(a+)+$",))
    kinds = Kinds(read_inventory(written(tmp_path)), exclude)
    name = "a" * 60 + "!"

    for search_in in (rooms.of_broker, lambda text: rooms.of_client(text, None), kinds.of_topic, kinds.of_group):
        with pytest.raises(BadInput, match="takes longer than 1 s"):
            search_in(name)


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
        (f"exclude: {{topics: [{', '.join(SLOW)}]}}", "exclude.topics: patterns take longer to compile than 1 s"),
        (
            f"rooms: {{brokers: [{', '.join(f'{{pattern: {slow}}}' for slow in SLOW)}]}}",
            "patterns take longer to compile than 1 s",
        ),
        (f"exclude: {{topics: ['(?P<{'é ' * 400}>a)']}}", "exclude.topics: is not a regular expression (bad character"),
    ],
    ids=["too long", "too long for a room", "slow to compile", "slow to compile for rooms", "a long reason"],
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
