"""The page of rules and actions against the records that it is made from, and what the records have to say for it."""

import re
from typing import Final, get_args

import pytest

from rocketmq_capacity.catalogue.action import Action, actions
from rocketmq_capacity.catalogue.rule import FACTS, LOOKS, Fact, Look, Rule, rules
from rocketmq_capacity.report.rules_page import FILE
from rocketmq_capacity.settings.thresholds import Thresholds
from tests.docs.pages import DOCS

PAGE: Final = (DOCS / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.name)
def test_a_rule_says_what_it_is_about_how_bad_it_is_and_what_one_does(rule: Rule) -> None:
    assert rule.about
    assert rule.severities
    assert rule.details.strip()


@pytest.mark.parametrize("action", actions().values(), ids=lambda action: action.name)
def test_an_action_says_when_it_is_offered_and_how_one_goes_back(action: Action) -> None:
    assert re.match(r"(if|for) ", action.offered)
    assert action.details.strip()
    assert set(action.answers) <= set(rules())
    assert action.unknown_moves is None or action.moves_queues


def test_what_one_looks_at_and_what_has_to_be_known_have_words() -> None:
    assert set(LOOKS) == set(get_args(Look)) - {"usual"}
    assert set(FACTS) == set(get_args(Fact))


def test_every_threshold_that_the_page_names_is_one_of_the_policy() -> None:
    named = re.findall(r"`([A-Z_]+)\.(\w+)`", PAGE)
    assert named
    for section, key in named:
        assert hasattr(getattr(Thresholds(), section), key), (section, key)


def test_every_threshold_of_a_rule_or_an_action_is_in_its_section_of_the_page() -> None:
    for section in {*rules(), *actions()} & set(Thresholds.model_fields):
        text = PAGE.partition(f"\n### {section}\n")[2].partition("\n### ")[0]
        for key in type(getattr(Thresholds(), section)).model_fields:
            assert f"`{key}`" in text, (section, key)
