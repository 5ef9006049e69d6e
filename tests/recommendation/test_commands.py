"""Command lines, taken apart by Python's shlex, which knows a POSIX shell."""

import random
import shlex
import string

import pytest

from rocketmq_capacity.recommendation.commands import comment, mqadmin, option, update_topic

CHARACTERS = string.printable + "äß東\x85\u2028\u2029\U0001f600"


def _values(count: int) -> list[str]:
    chance = random.Random(7)
    safe = string.ascii_letters + string.digits + "_@%+=:,./-"
    return [
        "",
        *("".join(chance.choices(chance.choice((CHARACTERS, safe)), k=chance.randint(1, 12))) for _ in range(count)),
    ]


def test_every_value_without_control_characters_comes_out_of_a_command_line_as_it_went_in() -> None:
    for value in filter(str.isprintable, _values(1000)):
        words = shlex.split(mqadmin("topicStatus", value, option("t", value), option("c", 7)))

        each = [[f"{flag}{value}"] if value.startswith("-") else [flag, value] for flag in ("-n", "-t")]
        assert words == ["mqadmin", "topicStatus", *each[0], *each[1], "-c", "7"]


@pytest.mark.parametrize("name", ["line\nend", "tab\tstop", "\x1b[2J", "\x9b2J", "\u2028", "\u202ebackwards", "\x7f"])
def test_a_command_with_a_character_that_a_terminal_obeys_is_a_comment_that_shows_it(name: str) -> None:
    line = mqadmin("topicStatus", "ns:9876", option("t", name))

    assert line.isprintable()
    assert line == f"# mqadmin topicStatus -n ns:9876 -t '{name.encode('unicode_escape').decode()}'"
    assert comment(line) == line


def test_what_a_shell_takes_as_it_is_has_no_quotes() -> None:
    assert option("b", "broker-a.example:10911") == " -b broker-a.example:10911"
    assert option("t", "two words") == " -t 'two words'"
    assert option("t", "it's") == """ -t 'it'"'"'s'"""
    assert option("t", "") == " -t ''"
    assert option("t", "東") == " -t '東'"


def test_a_comment_stays_one_line() -> None:
    for value in _values(1000):
        line = comment(value)

        assert line.isprintable()
        assert line == "# " + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
        assert shlex.split(line, comments=True) == []


@pytest.mark.parametrize(("attributes", "end"), [(None, ""), ("+message.type=FIFO", " -a +message.type=FIFO")])
def test_every_option_that_has_a_default_of_mqadmins_own_is_given(attributes: str | None, end: str) -> None:
    line = update_topic("ns:9876", "a:10911", "pay", (4, 3), 7, "true", attributes)

    assert line == f"mqadmin updateTopic -n ns:9876 -b a:10911 -t pay -r 4 -w 3 -p 7 -o true{end}"
