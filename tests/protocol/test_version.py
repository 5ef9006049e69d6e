"""Version numbers have the names that RocketMQ gives them."""

import pytest

from rocketmq_capacity.protocol.version import OWN_VERSION, VERSIONS, Version, numbers_of, version_name, version_of


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (0, "V3_0_0_SNAPSHOT"),
        (13, "V3_0_0_BETA9_SNAPSHOT"),
        (15, "V3_0_0_FINAL"),
        (45, "V3_0_15"),
        (47, "V3_1_0"),
        (86, "V3_3_1_SNAPSHOT"),
        (213, "V4_0_0"),
        (401, "V4_9_4"),
        (479, "V5_3_3"),
        (611, "V5_9_9"),
        (612, "HIGHER_VERSION"),
        (30_000, "HIGHER_VERSION"),
        (-1, "V3_0_0_SNAPSHOT"),
    ],
)
def test_numbers_have_rocketmqs_names(number: int, name: str) -> None:
    assert version_name(number) == name


def test_there_are_as_many_versions_as_in_rocketmq_and_ours_is_5_3_3() -> None:
    assert len(VERSIONS) == len(set(VERSIONS)) == 613
    assert OWN_VERSION == 479


@pytest.mark.parametrize(
    ("name", "numbers", "release"),
    [
        ("V5_3_3", (5, 3, 3), (5, 3, 3)),
        ("V5_0_0_SNAPSHOT", (5, 0, 0), None),
        ("HIGHER_VERSION", None, None),
        (None, None, None),
        ("V" + "9" * 5_000 + "_1_1", None, None),  # more digits than Python reads
    ],
)
def test_the_numbers_in_a_name(name: str | None, numbers: Version | None, release: Version | None) -> None:
    assert (numbers_of(name), version_of(name)) == (numbers, release)
