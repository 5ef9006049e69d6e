"""The check and the way back of each recommendation: a command that shows that it worked, and how to undo it.

The commands only look. What they show is read from the classes of org.apache.rocketmq.tools.command, rocketmq-all-5.3.3
(ConsumerConnectionSubCommand, ConsumerProgressSubCommand, ConsumerStatusSubCommand, TopicRouteSubCommand).
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Proof, Recommended, action_of
from rocketmq_capacity.catalogue.rule import FALLS, GONE, Rule, rule_of
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import json_object
from rocketmq_capacity.vocabulary import RETRY_PREFIX


def with_afterwards(
    recommendations: Iterable[tables.Recommendation], nameserver: str, *, has_grpc_clients: bool = False
) -> list[tables.Recommendation]:
    """The recommendations with their checks and ways back.

    No command asks a gRPC client what it owns: it cannot answer, and the question blocks a thread of the broker.
    """
    return [_with_afterwards(one, nameserver, has_grpc_clients) for one in recommendations]


def _with_afterwards(
    recommendation: tables.Recommendation, nameserver: str, has_grpc_clients: bool
) -> tables.Recommendation:
    action = action_of(recommendation.action)
    command, shows = (action.check or _looked_at)(recommendation, nameserver)
    lines = recommendation.commands
    if has_grpc_clients and recommendation.consumer_group is not None:
        progress = commands.consumer_progress(nameserver, recommendation.consumer_group, asks_clients=False)
        if _asks_clients(command):
            command, shows = progress, FALLS
        lines = tuple(dict.fromkeys(progress if _asks_clients(line) else line for line in lines))
    way_back = recommendation.way_back or action.way_back
    return replace(
        recommendation,
        commands=lines,
        check_command=command,
        check_shows=shows,
        way_back=way_back if isinstance(way_back, str) else way_back(json_object(recommendation.before)),
    )


def _asks_clients(command: str) -> bool:
    """Whether it asks each client of a group, and not only one that is named."""
    return command.startswith(("mqadmin consumerStatus", "mqadmin consumerProgress")) and " -i " not in command


def _looked_at(recommended: Recommended, nameserver: str) -> Proof:
    """Of what only looks, and of an action that says nothing else: by the worst of its rules."""
    rules = sorted(recommended.rules, key=lambda rule: (rule_of(rule).place, rule))
    group, topic = recommended.consumer_group, recommended.topic
    if group is not None:
        return _group_shows(group, [rule_of(rule) for rule in rules], nameserver)
    worst = rule_of(rules[0]) if rules else None
    if topic is not None:
        return commands.topic_route(nameserver, topic), worst.shows if worst else GONE
    return commands.cluster_list(nameserver), worst.shows if worst and worst.shown_by == "brokers" else GONE


def _group_shows(group: str, rules: Sequence[Rule], nameserver: str) -> Proof:
    worst = next((rule for rule in rules if rule.looks == "unused"), rules[0] if rules else None)
    if worst is not None and worst.looks == "unused":
        return commands.consumer_progress(nameserver, group, asks_clients=False), worst.shows
    if worst is not None and worst.shown_by == "retry topic":
        return commands.topic_status(nameserver, RETRY_PREFIX + group), worst.shows
    if worst is not None and worst.shown_by == "members":
        return commands.consumer_connection(nameserver, group), worst.shows
    shows = next((rule.shows for rule in rules if rule.shows != GONE and rule.shown_by == "progress"), GONE)
    return commands.consumer_progress(nameserver, group), shows
