"""What the name servers that are left know without one that is lost: their brokers and their routes."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from rocketmq_capacity.assessment.replicas import registered_only_with
from rocketmq_capacity.simulation.brokers import without_brokers
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryBroker,
    InventoryNameserver,
    InventoryRoute,
    InventoryTopic,
    TopicQueues,
)
from rocketmq_capacity.vocabulary import java_order

Queues = tuple[TopicQueues, ...]


def without_nameserver(inventory: Inventory, address: str) -> Inventory:
    """The inventory without a name server: the brokers and routes that the others give.

    A topic has its queues on every broker that one of them gives, as in a snapshot. Brokers that register with the lost
    one alone are gone. If no name server is left, all routes stay as they are, because clients keep them.
    """
    left = tuple(one for one in inventory.nameservers or () if one != address)
    views = [one for one in inventory.nameserver_views or () if one.nameserver_addr in left]
    masters = {one.broker_name: one for one in sorted(inventory.brokers, key=lambda one: -one.broker_id)}
    lost = registered_only_with({address}, masters) if left else ()
    brokers = tuple(_deregistered(one, address) for one in inventory.brokers)
    after = replace(inventory, nameservers=left, nameserver_views=None, brokers=brokers)
    if views:
        after = _with_routes(after, inventory, views)
        after = settled(inventory, after, ProducerSpread.KEEP) if after.topics != inventory.topics else after
    return without_brokers(after, set(lost)) if lost else after


def _with_routes(after: Inventory, before: Inventory, views: Sequence[InventoryNameserver]) -> Inventory:
    """The inventory with the routes that these name servers give, and how each of them differs from these."""
    known = {topic.topic: topic.queues or () for topic in before.topics}
    differing = {route.topic for view in before.nameserver_views or () for route in view.routes or ()}
    routes_of_views = [{route.topic: route.queues for route in view.routes or ()} for view in views]
    given = [{name: each.get(name, known.get(name, ())) for name in differing} for each in routes_of_views]
    joined = {name: _joined([each[name] for each in given]) for name in differing}
    return replace(
        after,
        topics=tuple(_with_queues(topic, joined) for topic in before.topics),
        nameserver_views=tuple(
            replace(view, routes=_different(joined, each)) for view, each in zip(views, given, strict=True)
        )
        if len(views) > 1
        else None,
    )


def _joined(routes: Sequence[Queues]) -> Queues:
    """The queues on every broker that one of the routes has, each as in the first of these, in Java's order."""
    by_broker = {queues.broker_name: queues for route in reversed(routes) for queues in route}
    return tuple(by_broker[name] for name in sorted(by_broker, key=java_order))


def _with_queues(topic: InventoryTopic, joined: Mapping[str, Queues]) -> InventoryTopic:
    queues = joined.get(topic.topic)
    return topic if queues is None or _is_same(queues, topic.queues or ()) else replace(topic, queues=queues)


def _different(joined: Mapping[str, Queues], routes: Mapping[str, Queues]) -> tuple[InventoryRoute, ...] | None:
    """The routes that differ from the joined ones, in Java's order; None if there are none."""
    names = sorted((name for name, each in routes.items() if not _is_same(each, joined[name])), key=java_order)
    return tuple(InventoryRoute(topic=name, queues=routes[name]) for name in names) or None


def _is_same(route: Queues, other: Queues) -> bool:
    """Whether two routes have the same queues, in whatever order."""
    return {queues.broker_name: queues for queues in route} == {queues.broker_name: queues for queues in other}


def _deregistered(broker: InventoryBroker, address: str) -> InventoryBroker:
    """The broker, which registers with the other name servers alone."""
    addresses = (broker.config or {}).get("namesrvAddr", "").split(";")
    if address not in (one.strip() for one in addresses):
        return broker
    others = ";".join(one for one in addresses if one.strip() != address)
    return replace(broker, config={**(broker.config or {}), "namesrvAddr": others})
