"""The check and the way back of each recommendation: a command that shows that it worked, and how to undo it.

The commands only look. What they show is read from the classes of org.apache.rocketmq.tools.command, rocketmq-all-5.3.3
(ConsumerConnectionSubCommand, ConsumerProgressSubCommand, ConsumerStatusSubCommand, TopicRouteSubCommand).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.wording import counted, listed
from rocketmq_capacity.recommendation import commands
from rocketmq_capacity.vocabulary import RETRY_PREFIX, RULE_PRIORITY, Rule

Check = tuple[str, str]
"""A command, and what it must show afterwards."""

OWNED: Final = "no queue has N/A as its client IP."
FALLS: Final = "the Diff of the queues that are named falls from one call to the next."
GONE: Final = "what the finding says is no longer so; the next plan does not have the finding any more."
EVEN: Final = "each client IP has about as many queues as the others."
ROUTE_ALIKE: Final = "every broker of the topic is listed, with as many queues as the others."


def with_afterwards(
    found: Iterable[contracts.Recommendation], nameserver: str, *, has_grpc_clients: bool = False
) -> list[contracts.Recommendation]:
    """The recommendations with their checks and ways back.

    No command asks a gRPC client what it owns: it cannot answer, and the question blocks a thread of the broker.
    """
    return [_with_afterwards(one, nameserver, has_grpc_clients) for one in found]


def _with_afterwards(
    found: contracts.Recommendation, nameserver: str, has_grpc_clients: bool
) -> contracts.Recommendation:
    check = CHECKS.get(found.action)
    command, shows = (check or _looked_at)(found, nameserver)
    if has_grpc_clients and found.consumer_group is not None:
        command, shows = _without_asking_clients(found, nameserver, command, shows)
    way_back = WAYS_BACK.get(found.action)
    return replace(
        found,
        check_command=command,
        check_shows=shows,
        way_back=None if way_back is None else way_back(_object(found.before)),
    )


def _without_asking_clients(found: contracts.Recommendation, nameserver: str, command: str, shows: str) -> Check:
    asks = command.startswith(("mqadmin consumerStatus", "mqadmin consumerProgress"))
    if not asks or found.consumer_group is None:
        return command, shows
    return commands.consumer_progress(nameserver, found.consumer_group, asks_clients=False), FALLS


def _ids(found: contracts.Recommendation, nameserver: str) -> Check:
    return commands.consumer_connection(nameserver, found.consumer_group or ""), "each client id stands there once."


def _subscriptions(found: contracts.Recommendation, nameserver: str) -> Check:
    command = commands.consumer_status(nameserver, found.consumer_group or "")
    return command, "it ends with: Same subscription in the same group of consumer."


def _owners(found: contracts.Recommendation, nameserver: str) -> Check:
    return commands.consumer_progress(nameserver, found.consumer_group or ""), f"{OWNED[:-1]}, and {EVEN}"


def _clients(found: contracts.Recommendation, nameserver: str) -> Check:
    clients = _object(found.after).get("clients")
    number = "as many clients as were decided on" if clients is None else counted(clients, "client")
    return commands.consumer_connection(nameserver, found.consumer_group or ""), f"{number}, each id once."


def _threads(found: contracts.Recommendation, nameserver: str) -> Check:
    threads = _object(found.after).get("consume_threads")
    command = commands.consumer_status(nameserver, found.consumer_group or "")
    return command, f"in the file of each client PROP_THREADPOOL_CORE_SIZE is at least {threads}."


def _shorter(found: contracts.Recommendation, nameserver: str) -> Check:
    times = [f"{one['topic']} {one['consume_rt_ms']:g}" for one in _object(found.after).get("topics") or ()]
    command = commands.consumer_status(nameserver, found.consumer_group or "")
    return command, f"in the file of each client #Consume RT is at most {listed(times)}."


def _cached(found: contracts.Recommendation, nameserver: str) -> Check:
    command = commands.consumer_status(nameserver, found.consumer_group or "")
    most = _object(found.after).get("pull_threshold_for_queue")
    value = "as it was decided on" if most is None else f"at most {most}"
    return command, f"in the file of each client pullThresholdForQueue is {value}."


def _replaced(found: contracts.Recommendation, nameserver: str) -> Check:
    command = commands.consumer_status(nameserver, found.consumer_group or "")
    return command, "in the file of each client #Consume RT and #ConsumeFailed TPS are like those of the others."


def _popped(found: contracts.Recommendation, nameserver: str) -> Check:
    command = commands.consumer_progress(nameserver, found.consumer_group or "", asks_clients=False)
    return command, "Consume Diff Total does not grow from one call to the next, with all clients at work."


def _route(found: contracts.Recommendation, nameserver: str) -> Check:
    queues = _object(found.after).get("queues") or ()
    each = "; ".join(
        f"{one['broker_name']} {one['read_queue_nums']} and {one['write_queue_nums']}" for one in queues[:SHOWN]
    )
    more = f"; and {len(queues) - SHOWN} more" if len(queues) > SHOWN else ""
    return commands.topic_route(nameserver, found.topic or ""), f"#ReadQueue and #WriteQueue are {each}{more}."


def _brokers(found: contracts.Recommendation, nameserver: str) -> Check:
    return commands.cluster_list(nameserver), f"{_object(found.after).get('brokers')} brokers with the id 0."


def _spread(found: contracts.Recommendation, nameserver: str) -> Check:
    command = commands.topic_status(nameserver, found.topic or "")
    return command, "#Max Offset of all queues grows alike from one call to the next."


def _looked_at(found: contracts.Recommendation, nameserver: str) -> Check:
    """Of what only looks, and of an action that says nothing else: by the worst of its rules."""
    rules = sorted(found.rules, key=lambda rule: (RULE_PRIORITY.get(rule, len(RULE_PRIORITY)), rule))
    group, topic = found.consumer_group, found.topic
    if group is not None:
        if rules and rules[0] == RETRIES:
            return commands.topic_status(nameserver, RETRY_PREFIX + group), "#Max Offset has stopped growing."
        if rules and rules[0] == MEMBERS:
            return commands.consumer_connection(nameserver, group), "the same clients, whichever broker is asked (-b)."
        shows = next((SHOWS[rule] for rule in rules if rule in SHOWS), GONE)
        return commands.consumer_progress(nameserver, group), shows
    if topic is not None:
        return commands.topic_route(nameserver, topic), SHOWS.get(rules[0], GONE) if rules else GONE
    return commands.cluster_list(nameserver), "every broker of the cluster is listed."


SHOWN: Final = 8
"""So many brokers are named with their queues."""
RETRIES: Final[Rule] = "RETRY_PRESSURE"
MEMBERS: Final[Rule] = "MEMBERSHIP_DISAGREEMENT"
SHOWS: Final[Mapping[str, str]] = {
    "ORPHAN_QUEUE": OWNED,
    "MIXED_STRATEGIES": OWNED,
    "IDLE_CONSUMERS": "every client's IP appears beside a queue.",
    "TOPIC_COVERAGE": ROUTE_ALIKE,
    **dict.fromkeys(("LAG_STATE", "LAG_SKEW", "RETENTION_RISK", "CONSUMER_CAPACITY"), FALLS),
    **dict.fromkeys(("ALLOCATION_SKEW", "CROSS_TOPIC_SKEW", "TRAFFIC_SKEW", "READ_ONLY_IDLE"), EVEN),
}
"""What the command shows once the finding of this rule is gone."""
CHECKS: Final[Mapping[str, Callable[[contracts.Recommendation, str], Check]]] = {
    "FIX_CLIENT_ID": _ids,
    "FIX_SUBSCRIPTION": _subscriptions,
    "CHANGE_STRATEGY": _owners,
    "SCALE_CONSUMERS": _clients,
    "RAISE_CONSUME_THREADS": _threads,
    "REPLACE_CLIENT": _replaced,
    "SHORTEN_CALLS": _shorter,
    "LOWER_PULL_THRESHOLDS": _cached,
    "SWITCH_TO_POP": _popped,
    "ADD_BROKER": _brokers,
    "EXPAND_QUEUES": _route,
    "SHRINK_QUEUES": _route,
    "RAISE_READ_QUEUES": _route,
    "CREATE_TOPIC_ON_BROKER": _route,
    "CHECK_PRODUCER_KEYS": _spread,
}


def _fewer_queues(before: Mapping[str, Any]) -> str:
    counts = ", ".join(
        f"{one['broker_name']} {one['write_queue_nums']}" for one in (before.get("queues") or ())[:SHOWN]
    )
    return (
        f"In two steps, since what lies in a queue must be read first. Lower the write queues alone (before: {counts}),"
        " with -r as it is now. Once every group has read the queues beyond that to their end, lower the read queues."
    )


def _more_queues(before: Mapping[str, Any]) -> str:
    counts = ", ".join(
        f"{one['broker_name']} {one['write_queue_nums']}" for one in (before.get("queues") or ())[:SHOWN]
    )
    return f"Read and write queues up in one command for each broker (before: {counts}); groups go on where they were."


def _old_strategy(before: Mapping[str, Any]) -> str:
    strategy = before.get("strategy")
    old = "what each ran before" if strategy in (None, "MIXED") else strategy
    return f"Set {old} in the clients' code again, in all clients in one go."


def _old_clients(before: Mapping[str, Any]) -> str:
    clients = before.get("clients")
    return "Run as many clients as before." if clients is None else f"Run {counted(clients, 'client')} again."


def _old_threads(before: Mapping[str, Any]) -> str:
    threads = before.get("consume_threads")
    return "Set the number of threads as it was." if threads is None else f"Set {counted(threads, 'thread')} again."


WAYS_BACK: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "FIX_CLIENT_ID": lambda _: "Start the clients with their old set-up; they then share the id again.",
    "FIX_SUBSCRIPTION": lambda _: "Start the clients that were changed with their old code.",
    "CHANGE_STRATEGY": _old_strategy,
    "SCALE_CONSUMERS": _old_clients,
    "RAISE_CONSUME_THREADS": _old_threads,
    "REPLACE_CLIENT": lambda _: "Start the client where it was, with its old set-up; it gets its share back.",
    "SHORTEN_CALLS": lambda _: "Start the clients with their old code.",
    "LOWER_PULL_THRESHOLDS": lambda _: "Set the thresholds as they were in all clients.",
    "SWITCH_TO_POP": lambda _: "The same commands with -m PULL, then clients without setClientRebalance(false).",
    "ADD_BROKER": lambda _: (
        "That of each step: nothing is written to the new broker any more, every group reads it to its end, and it is"
        " shut down."
    ),
    "EXPAND_QUEUES": _fewer_queues,
    "SHRINK_QUEUES": _more_queues,
    "RAISE_READ_QUEUES": lambda _: "None is needed: with fewer read than write queues messages stay unread again.",
    "CREATE_TOPIC_ON_BROKER": lambda _: (
        "Stop writing there first (updateTopic with -p 4 on this broker). Once every group has read the queues there"
        " to their end, the topic may go from this broker."
    ),
    "CHECK_PRODUCER_KEYS": lambda _: "Let the producers choose the queue as before.",
    "INVESTIGATE": lambda _: "Nothing was changed: the commands only look.",
}
"""How to undo each action; the module of any other action writes that itself."""


def _object(text: str) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(text)
    return decoded
