"""The vocabulary against what uses its names: none is missing, and none is left over.

The records of rules and actions have a test of their own (tests/catalogue), as has the documentation
(tests/docs/test_pages.py).
"""

import ast
from pathlib import Path
from typing import get_args

from rocketmq_capacity import recommendation
from rocketmq_capacity.allocation import registry
from rocketmq_capacity.catalogue.action import actions
from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.report import wording
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.describe_clients import STRATEGY_NAMES
from rocketmq_capacity.vocabulary import (
    CLIENT_STRATEGIES,
    MACHINE_ROOM_NEARBY,
    POP,
    SEVERITIES,
    STRATEGIES,
    ProvisionStatus,
)


def test_every_strategy_is_registered_and_nothing_else_is() -> None:
    assert tuple(registry.STRATEGIES) == STRATEGIES


def test_every_strategy_is_a_clients_or_the_brokers() -> None:
    assert (*CLIENT_STRATEGIES, POP) == STRATEGIES


def test_every_strategy_that_a_client_reports_is_computed() -> None:
    assert {Policy().computed(reported) for reported in STRATEGY_NAMES.values()} <= set(STRATEGIES)


def test_the_policy_says_which_inner_strategy_is_computed() -> None:
    by_circle = Policy(strategies=("AVG", "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", "MACHINE_ROOM_NEARBY-AVG"))

    assert by_circle.computed(MACHINE_ROOM_NEARBY) == "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE"
    assert by_circle.computed("AVG") == "AVG"
    assert Policy(strategies=("AVG",)).computed(MACHINE_ROOM_NEARBY) == MACHINE_ROOM_NEARBY


def test_every_action_is_recommended_by_some_module() -> None:
    (room,) = recommendation.__path__
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in Path(room).glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    constants = {node.id for node in nodes if isinstance(node, ast.Name)}  # INVESTIGATE is one

    assert set(actions()) <= texts | constants


def test_every_severity_has_words_on_the_page() -> None:
    assert tuple(wording.SEVERITY_WORDS) == SEVERITIES


def test_the_page_has_words_for_every_provision_status() -> None:
    assert set(wording.STATUS_WORDS) == set(get_args(ProvisionStatus))


def test_thresholds_are_given_for_names_that_exist() -> None:
    assert Thresholds.model_fields.keys() <= {
        *rules(),
        *actions(),
        "BROKER_RESTART",
        "EFFECT",
        "LOW_UTILISATION",
        "PRODUCER_BALANCE",
        "PRODUCER_TIMELINE",
        "PROVISION",
        "TRANSITION",
    }
