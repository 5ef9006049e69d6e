"""The check and the way back of each recommendation: a command that shows that it worked, and how to undo it.

The commands only look. What they show is read from the classes of org.apache.rocketmq.tools.command, rocketmq-all-5.3.3
(ConsumerConnectionSubCommand, ConsumerProgressSubCommand, ConsumerStatusSubCommand, TopicRouteSubCommand).
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.catalogue.action import Proof, Recommended, action_of
from rocketmq_capacity.catalogue.rule import FALLS, GONE, Rule, rule_of
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.recommendation.answer import json_object
from rocketmq_capacity.vocabulary import RETRY_PREFIX


class GrpcClients(NamedTuple):
    """How a group with gRPC clients is looked at.

    mqadmin looks for the brokers of a group by its retry topic. Only the heartbeat of a remoting client makes one, so
    that commands on a group without such a client have to name a topic, or a server.
    Source: DefaultMQAdminExtImpl.examineConsumeStats and examineConsumerConnectionInfo, rocketmq-all-5.3.3.

    Attributes:
        topics: its topics that commands name; empty if it has remoting clients, too.
        addresses: of the servers that name its clients; empty if it has remoting clients, too.
    """

    topics: Sequence[str] = ()
    addresses: Sequence[str] = ()


def with_afterwards(
    recommendations: Iterable[tables.Recommendation], nameserver: str, grpc: GrpcClients | None = None
) -> list[tables.Recommendation]:
    """The recommendations with their checks and ways back.

    No command asks a gRPC client what it owns: it cannot answer, and the question blocks a thread of the broker.
    """
    return [_with_afterwards(one, nameserver, grpc) for one in recommendations]


def _with_afterwards(
    recommendation: tables.Recommendation, nameserver: str, grpc: GrpcClients | None
) -> tables.Recommendation:
    action = action_of(recommendation.action)
    command, shows = (action.check or _looked_at)(recommendation, nameserver)
    lines = recommendation.commands
    group = recommendation.consumer_group
    if grpc is not None and group is not None:
        named: Sequence[str | None] = grpc.topics or (None,)
        progress = [commands.consumer_progress(nameserver, group, asks_clients=False, topic=one) for one in named]
        if _asks_clients(command):
            command, shows = progress[0], FALLS
        elif grpc.addresses and command == commands.consumer_connection(nameserver, group):
            command = commands.consumer_connection(nameserver, group, grpc.addresses[0])
        in_turn = chain.from_iterable(progress if _asks_clients(line) else [line] for line in lines)
        lines = tuple(dict.fromkeys(in_turn))
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
