"""The evidence of rules: what is written is read again, and each figure says what it is."""

from typing import Any

import msgspec
import pytest

from rocketmq_capacity.assessment.ownership import IdleEvidence
from rocketmq_capacity.assessment.stale import StaleGroupEvidence, StaleTopicEvidence
from rocketmq_capacity.catalogue.evidence import EvidenceField, figures_of
from rocketmq_capacity.catalogue.rule import evidence_of, rules
from rocketmq_capacity.plan_file.finding import Impact
from rocketmq_capacity.report.figures import unit_of

IDLE = IdleEvidence(clients=3, queues=2, idle=1, idle_ratio=0.3333, max_useful_clients=None, ordered=False)
NUMBERS = (msgspec.inspect.IntType, msgspec.inspect.FloatType)


class Found(msgspec.Struct):
    """The two fields of a finding that say what it is based on."""

    rule: str
    evidence: str | dict[str, Any]


def numbers_of(kind: msgspec.inspect.Type, name: str = "") -> set[str]:
    """The names of the numbers in a type, at any depth."""
    if isinstance(kind, msgspec.inspect.StructType):
        return {found for field in kind.fields for found in numbers_of(field.type, field.name)}
    inner = [getattr(kind, "type", None), getattr(kind, "item_type", None), *getattr(kind, "types", ())]
    found = {number for part in inner if part is not None for number in numbers_of(part, name)}
    return found | ({name} if isinstance(kind, NUMBERS) else set())


def every(figures: tuple[EvidenceField, ...]) -> list[EvidenceField]:
    """The figures, and those in them."""
    return [found for figure in figures for found in (figure, *every(figure.parts))]


@pytest.mark.parametrize("written", [msgspec.json.encode(IDLE).decode(), msgspec.to_builtins(IDLE)])
def test_a_row_and_a_plan_file_give_the_same_evidence(written: str | dict[str, Any]) -> None:
    assert evidence_of(Found("IDLE_CONSUMERS", written)) == IDLE


def test_a_figure_that_is_unset_is_left_out_and_the_others_keep_their_order() -> None:
    assert list(msgspec.to_builtins(IDLE)) == [
        "clients",
        "queues",
        "idle",
        "idle_ratio",
        "max_useful_clients",
        "ordered",
    ]


def test_a_rule_that_finds_different_things_has_the_evidence_of_the_one_that_it_found() -> None:
    topic = StaleTopicEvidence(unused_days=40.0, consumer_groups=["g"], queues=8)
    group = StaleGroupEvidence(unused_days=40.0, topics=["pay"])

    found = [evidence_of(Found("STALE_OBJECT", msgspec.to_builtins(one))) for one in (topic, group)]

    assert found == [topic, group]


@pytest.mark.parametrize(
    ("rule", "evidence"),
    [
        ("IDLE_CONSUMERS", {}),
        ("IDLE_CONSUMERS", {"idle_clients": 1}),
        ("IDLE_CONSUMERS", msgspec.to_builtins(IDLE) | {"idle": "one"}),
        ("A_LATER_RULE", {"idle": 1}),
    ],
)
def test_what_another_version_wrote_is_not_taken_apart(rule: str, evidence: dict[str, Any]) -> None:
    assert evidence_of(Found(rule, evidence)) is None
    assert evidence_of(Found(rule, msgspec.json.encode(evidence).decode())) is None


@pytest.mark.parametrize("name", rules())
def test_each_figure_of_a_rule_has_a_meaning_and_each_number_a_unit(name: str) -> None:
    for kind in rules()[name].kinds:
        figures = tuple(figures_of(kind))

        assert [one.name for one in figures] == list(kind.__struct_fields__)
        assert set(kind.adds_to) <= set(Impact.__struct_fields__)
        assert [name for name in kind.adds_to.values() if not hasattr(kind, name)] == []
        assert [one.name for one in every(figures) if not one.meaning] == []
        # The page says what is counted itself: "clients that left".
        assert [one.name for one in every(figures) if one.unit and one.meaning.startswith(one.unit)] == []
        numbers = numbers_of(msgspec.inspect.type_info(kind)) - {"queue_id"}
        assert sorted(number for number in numbers if unit_of(number, name) is None) == []
