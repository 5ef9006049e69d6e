"""A value that is not what its tag says, or that no text can hold, is refused in one line with its place."""

from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.client.options import read_connection
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import read_policy
from rocketmq_capacity.settings.yaml_file import mapping_of_text
from rocketmq_capacity.simulation.scenario import read_scenario

HALF: Final = r"has half a character (\uD800 to \uDFFF)"
NOT_TAKEN: Final = {
    "!!bool maybe": "is not YAML ('maybe' is not a valid bool)",
    "!!int x": "is not YAML ('x' is not a valid int)",
    "!!int ''": "is not YAML ('' is not a valid int)",
    "!!int '+'": "is not YAML ('+' is not a valid int)",
    "!!float ''": "is not YAML ('' is not a valid float)",
    "!!timestamp x": "is not YAML ('x' is not a valid timestamp)",
    "24:00": "is not YAML ('24:00' is not a valid int)",
    "1:30.5": "is not YAML ('1:30.5' is not a valid float)",
    "010": "is not YAML ('010' is not a valid int)",
    "2026-99-99": "is not YAML ('2026-99-99' is not a valid timestamp)",
    "!!map x": "is not YAML (expected a mapping node, but found scalar)",
    "!!map [x]": "is not YAML (expected a mapping node, but found sequence)",
    "!!set x": "is not YAML (expected a mapping node, but found scalar)",
    "!!seq x": "is not YAML (expected a sequence node, but found scalar)",
    "!!omap x": "is not YAML (expected a sequence, but found scalar)",
    r'"\Uffffffff"': "is not YAML (found an escape of a character that does not exist)",
    r'"\U00110000"': "is not YAML (found an escape of a character that does not exist)",
    r'"\ud800"': HALF,
    r'{"a\udfff": 1}': HALF,
}


@pytest.mark.parametrize("read", [read_policy, read_scenario, read_connection])
@pytest.mark.parametrize(("value", "said"), NOT_TAKEN.items(), ids=NOT_TAKEN)
def test_it_is_refused_with_its_line_as_a_value_and_as_a_key(tmp_path: Path, read, value: str, said: str) -> None:
    file = tmp_path / "given.yaml"
    for text in (f"# its first line\nname: {value}\n", f"# its first line\n? {value}\n: 1\n"):
        file.write_text(text, encoding="utf-8")

        with pytest.raises(BadInput) as refused:
            read(file)

        # The error about a connection, which holds secrets, quotes nothing of it.
        told = said.partition(" (")[0] if read is read_connection else said
        assert str(refused.value).startswith(f"{file}: line 2: {told}")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("!!bool yes", True),
        ("!!int '012'", 10),
        ("!!str 012", "012"),
        (r'"\U0001f600"', "😀"),
        (r'"\ud83d\ude00"', "😀"),
    ],
)
def test_what_is_as_its_tag_says_is_read(value: str, read: object) -> None:
    assert mapping_of_text(f"name: {value}", "a text", "a mapping") == {"name": read}
