"""The records of rules and actions: each is found, and each can be told from the others."""

import subprocess
import sys

from rocketmq_capacity.catalogue.action import LAST, action_of, actions
from rocketmq_capacity.catalogue.rule import rule_of, rules


def test_no_two_records_have_the_same_name_or_place() -> None:
    assert all(name == record.name for name, record in rules().items())
    assert all(name == record.name for name, record in actions().items())
    assert len({record.place for record in rules().values()}) == len(rules())
    assert len({record.place for record in actions().values()}) == len(actions())


def test_the_way_that_is_easier_to_undo_and_costs_less_comes_first() -> None:
    order = list(actions())

    one_client, clients, setting, queues, code = map(
        order.index, ("REPLACE_CLIENT", "SCALE_CONSUMERS", "RAISE_CONSUME_THREADS", "EXPAND_QUEUES", "SHORTEN_CALLS")
    )
    assert one_client < clients < setting < queues < code
    assert setting < order.index("CHANGE_STRATEGY")
    assert queues < order.index("CREATE_TOPIC_ON_BROKER") < order.index("ADD_BROKER")
    assert order[-1] == "INVESTIGATE"


def test_every_record_has_a_title_and_says_what_it_means() -> None:
    assert all(record.title and record.meaning.endswith(".") for record in rules().values())
    assert all(record.title and record.meaning.endswith(".") for record in actions().values())


def test_orphans_are_mended_before_what_only_costs() -> None:
    names = list(rules())

    assert names.index("ORPHAN_QUEUE") < names.index("CONSUMER_CAPACITY") < names.index("IDLE_CONSUMERS")


def test_what_another_version_has_found_comes_last_under_its_name() -> None:
    rule, action = rule_of("OF_TOMORROW"), action_of("OF_TOMORROW")

    assert (rule.title, rule.place, action.title, action.place) == ("OF_TOMORROW", LAST, "OF_TOMORROW {subject}", LAST)


def test_the_records_are_found_without_spark_or_arrow() -> None:
    """The API server and the Dags need them."""
    asks = (
        "import sys\n"
        "from rocketmq_capacity.catalogue import action, rule\n"
        "assert rule.rules() and action.actions()\n"
        "print(sorted({'pyspark', 'pandas', 'pyarrow', 'pandera'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True, timeout=120)

    assert told.stdout.strip() == "[]"
