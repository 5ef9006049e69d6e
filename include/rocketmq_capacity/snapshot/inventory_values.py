"""What the types of an inventory cannot express, checked: names, times and repeated keys."""

from collections.abc import Hashable, Sequence
from datetime import timedelta
from typing import Final

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.snapshot.inventory import (
    CLUSTER_NAME,
    HELD_TIMES,
    Client,
    HourlyGroup,
    HourlyRates,
    Inventory,
    InventoryGroup,
    InventoryTopic,
    parse_utc,
)

MOST_HOURS: Final = 24 * 366
"""The most hours of which a topic has rates, or a group what it had not read."""


def check_values(inventory: Inventory, source: str) -> None:
    """Check what types cannot express: names, times and repeated keys."""
    check = _Checks(source)
    if not CLUSTER_NAME.fullmatch(inventory.cluster_name):
        problem = f"is {shown(inventory.cluster_name)}; expected 1 to 255 of A-Z a-z 0-9 and ._-"
        raise BadInput(source, "$.cluster_name", problem)
    check.time("$.taken_at", inventory.taken_at)
    if inventory.recorded_at is not None:
        check.time("$.recorded_at", inventory.recorded_at)
    _check_servers(inventory, check)
    check.unique("$.topics", [t.topic for t in inventory.topics], "topic")
    check.unique("$.consumer_groups", [g.consumer_group for g in inventory.consumer_groups], "consumer_group")
    for t, topic in enumerate(inventory.topics):
        _check_topic(topic, f"$.topics[{t}]", check)
    for g, group in enumerate(inventory.consumer_groups):
        _check_group(group, f"$.consumer_groups[{g}]", check)


class _Checks:
    """The checks of one file.

    Attributes:
        utc: the times that are known to be right, and null. A caller asks here first, as a file has millions of times.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self.utc: set[str | None] = {None}

    def time(self, place: str, text: str | None) -> None:
        """A time in UTC."""
        try:
            parse_utc(text or "")
        except (ValueError, OverflowError):
            problem = f"is {shown(text)}; expected a UTC ISO-8601 time such as 2026-11-20T02:00:00Z"
            raise BadInput(self._source, place, problem) from None
        self.utc.add(text)

    def unique(self, place: str, keys: Sequence[Hashable], names: str) -> None:
        """Keys of a list, each once."""
        if len(set(keys)) == len(keys):
            return
        seen: dict[Hashable, int] = {}
        for index, key in enumerate(keys):
            if (first := seen.setdefault(key, index)) != index:
                problem = f"repeats ({names}) = {shown(key)} of {place}[{first}]; expected each once"
                raise BadInput(self._source, f"{place}[{index}]", problem)

    def rates(self, place: str, hourly: HourlyRates) -> None:
        """Errors: BadInput if the lists differ in length or are too long, and as :meth:`_hours`."""
        means, mosts = len(hourly.mean_msgs_per_s), len(hourly.most_msgs_per_s)
        if means != mosts or means > MOST_HOURS:
            problem = (
                f"has {means} means and {mosts} highest rates; expected one of each for at most {MOST_HOURS} hours"
            )
            raise BadInput(self._source, place, problem)
        self._hours(f"{place}.first_at", hourly.first_at, means)

    def reading(self, place: str, hourly: HourlyGroup) -> None:
        """Errors: as those of `rates`."""
        lags, clients = len(hourly.most_lag), len(hourly.clients)
        if lags != clients or lags > MOST_HOURS:
            problem = (
                f"has {lags} lags and {clients} numbers of clients; expected one of each for at most {MOST_HOURS} hours"
            )
            raise BadInput(self._source, place, problem)
        self._hours(f"{place}.first_at", hourly.first_at, lags)

    def _hours(self, place: str, first_at: str, number: int) -> None:
        """Errors: BadInput if the first hour is no time, or the last one comes after all times."""
        self.time(place, first_at)
        try:
            parse_utc(first_at) + timedelta(hours=number)
        except OverflowError:
            problem = f"is {first_at}, with {number} hours; expected hours that end before the year 10000"
            raise BadInput(self._source, place, problem) from None


def _check_servers(inventory: Inventory, check: _Checks) -> None:
    check.unique("$.brokers", [(b.broker_name, b.broker_id) for b in inventory.brokers], "broker_name, broker_id")
    for b, broker in enumerate(inventory.brokers):
        if broker.master_changed_at not in check.utc:
            check.time(f"$.brokers[{b}].master_changed_at", broker.master_changed_at)
        for d, disk in enumerate(broker.disks or ()):
            check.time(f"$.brokers[{b}].disks[{d}].at", disk.at)
        check.unique(f"$.brokers[{b}].drifted_topics", [t.topic for t in broker.drifted_topics or ()], "topic")
    check.unique("$.missing_brokers", [one.broker_name for one in inventory.missing_brokers or ()], "broker_name")
    for b, missing in enumerate(inventory.missing_brokers or ()):
        place = f"$.missing_brokers[{b}]"
        check.time(f"{place}.seen_at", missing.seen_at)
        check.unique(f"{place}.topics", [one.topic for one in missing.topics], "topic")
        check.unique(
            f"{place}.readers", [(one.consumer_group, one.topic) for one in missing.readers], "consumer_group, topic"
        )
    views = inventory.nameserver_views or ()
    check.unique("$.nameserver_views", [view.nameserver_addr for view in views], "nameserver_addr")
    for v, view in enumerate(views):
        place = f"$.nameserver_views[{v}]"
        brokers = [(b.broker_name, b.broker_id) for b in view.brokers or ()]
        check.unique(f"{place}.brokers", brokers, "broker_name, broker_id")
        check.unique(f"{place}.routes", [route.topic for route in view.routes or ()], "topic")
        for r, route in enumerate(view.routes or ()):
            check.unique(f"{place}.routes[{r}].queues", [q.broker_name for q in route.queues], "broker_name")
    check.unique("$.proxies", [p.proxy_addr for p in inventory.proxies or ()], "proxy_addr")


def _check_topic(topic: InventoryTopic, place: str, check: _Checks) -> None:
    check.unique(f"{place}.queues", [q.broker_name for q in topic.queues or ()], "broker_name")
    written = [(o.broker_name, o.queue_id) for o in topic.offsets or ()]
    check.unique(f"{place}.offsets", written, "broker_name, queue_id")
    for r, rate in enumerate(topic.rates or ()):
        if rate.at not in check.utc:
            check.time(f"{place}.rates[{r}].at", rate.at)
    if topic.hourly is not None:
        check.rates(f"{place}.hourly", topic.hourly)


def _check_group(group: InventoryGroup, place: str, check: _Checks) -> None:
    utc = check.utc
    named = [name for each in group.settings or () for name in each.broker_names]
    check.unique(f"{place}.settings[*].broker_names", named, "broker_name")
    check.unique(f"{place}.subscriptions", [s.topic for s in group.subscriptions or ()], "topic")
    check.unique(f"{place}.pass_ratios", [p.topic for p in group.pass_ratios or ()], "topic")
    read = [(o.topic, o.broker_name, o.queue_id) for o in group.offsets or ()]
    check.unique(f"{place}.offsets", read, "topic, broker_name, queue_id")
    for c, client in enumerate(group.clients or ()):
        _check_client(client, f"{place}.clients[{c}]", check)
    for m, members in enumerate(group.past_members or ()):
        check.time(f"{place}.past_members[{m}].first_at", members.first_at)
        check.time(f"{place}.past_members[{m}].last_at", members.last_at)
    if group.hourly is not None:
        check.reading(f"{place}.hourly", group.hourly)
    for o, offset in enumerate(group.offsets or ()):
        if offset.last_timestamp not in utc:
            check.time(f"{place}.offsets[{o}].last_timestamp", offset.last_timestamp)
        for s, sample in enumerate(offset.samples or ()):
            if sample.at not in utc:
                check.time(f"{place}.offsets[{o}].samples[{s}].at", sample.at)


def _check_client(client: Client, place: str, check: _Checks) -> None:
    if client.started_at not in check.utc:
        check.time(f"{place}.started_at", client.started_at)
    if client.answered_at not in check.utc:
        check.time(f"{place}.answered_at", client.answered_at)
    for q, held in enumerate(client.owned_queues or ()):
        if check.utc.issuperset(held.times()):
            continue
        for name, at in zip(HELD_TIMES, held.times(), strict=True):
            if at not in check.utc:
                check.time(f"{place}.owned_queues[{q}].{name}", at)
    check.unique(f"{place}.subscriptions", [s.topic for s in client.subscriptions or ()], "topic")
    check.unique(f"{place}.status", [s.topic for s in client.status or ()], "topic")
