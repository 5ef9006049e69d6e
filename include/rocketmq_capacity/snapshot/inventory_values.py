"""What the types of an inventory cannot express, checked: names, times and repeated keys."""

from collections.abc import Hashable, Sequence

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.snapshot.inventory import CLUSTER_NAME, HELD_TIMES, Inventory, parse_utc


def check_values(inventory: Inventory, source: str) -> None:
    """Check what types cannot express: names, times and repeated keys."""
    utc: set[str | None] = {None}

    def time(place: str, text: str | None) -> None:
        try:
            parse_utc(text or "")
        except (ValueError, OverflowError):
            problem = f"is {shown(text)}; expected a UTC ISO-8601 time such as 2026-11-20T02:00:00Z"
            raise BadInput(source, place, problem) from None
        utc.add(text)

    def unique(place: str, keys: Sequence[Hashable], names: str) -> None:
        if len(set(keys)) == len(keys):
            return
        seen: dict[Hashable, int] = {}
        for index, key in enumerate(keys):
            if (first := seen.setdefault(key, index)) != index:
                problem = f"repeats ({names}) = {shown(key)} of {place}[{first}]; expected each once"
                raise BadInput(source, f"{place}[{index}]", problem)

    if not CLUSTER_NAME.fullmatch(inventory.cluster_name):
        problem = f"is {shown(inventory.cluster_name)}; expected 1 to 255 of A-Z a-z 0-9 _ . -"
        raise BadInput(source, "$.cluster_name", problem)
    time("$.taken_at", inventory.taken_at)
    if inventory.recorded_at is not None:
        time("$.recorded_at", inventory.recorded_at)
    unique("$.brokers", [(b.broker_name, b.broker_id) for b in inventory.brokers], "broker_name, broker_id")
    for b, broker in enumerate(inventory.brokers):
        if broker.master_changed_at not in utc:
            time(f"$.brokers[{b}].master_changed_at", broker.master_changed_at)
        unique(f"$.brokers[{b}].drifted_topics", [t.topic for t in broker.drifted_topics or ()], "topic")
    views = inventory.nameserver_views or ()
    unique("$.nameserver_views", [view.nameserver_addr for view in views], "nameserver_addr")
    for v, view in enumerate(views):
        place = f"$.nameserver_views[{v}]"
        unique(f"{place}.brokers", [(b.broker_name, b.broker_id) for b in view.brokers or ()], "broker_name, broker_id")
        unique(f"{place}.routes", [route.topic for route in view.routes or ()], "topic")
        for r, route in enumerate(view.routes or ()):
            unique(f"{place}.routes[{r}].queues", [q.broker_name for q in route.queues], "broker_name")
    unique("$.proxies", [p.proxy_addr for p in inventory.proxies or ()], "proxy_addr")
    unique("$.topics", [t.topic for t in inventory.topics], "topic")
    unique("$.consumer_groups", [g.consumer_group for g in inventory.consumer_groups], "consumer_group")
    for t, topic in enumerate(inventory.topics):
        place = f"$.topics[{t}]"
        unique(f"{place}.queues", [q.broker_name for q in topic.queues or ()], "broker_name")
        written = [(o.broker_name, o.queue_id) for o in topic.offsets or ()]
        unique(f"{place}.offsets", written, "broker_name, queue_id")
        for r, rate in enumerate(topic.rates or ()):
            if rate.at not in utc:
                time(f"{place}.rates[{r}].at", rate.at)
    for g, group in enumerate(inventory.consumer_groups):
        place = f"$.consumer_groups[{g}]"
        unique(f"{place}.subscriptions", [s.topic for s in group.subscriptions or ()], "topic")
        unique(f"{place}.pass_ratios", [p.topic for p in group.pass_ratios or ()], "topic")
        read = [(o.topic, o.broker_name, o.queue_id) for o in group.offsets or ()]
        unique(f"{place}.offsets", read, "topic, broker_name, queue_id")
        for c, client in enumerate(group.clients or ()):
            if client.started_at not in utc:
                time(f"{place}.clients[{c}].started_at", client.started_at)
            if client.answered_at not in utc:
                time(f"{place}.clients[{c}].answered_at", client.answered_at)
            for q, held in enumerate(client.owned_queues or ()):
                for name in HELD_TIMES:
                    if (at := getattr(held, name)) not in utc:
                        time(f"{place}.clients[{c}].owned_queues[{q}].{name}", at)
            unique(f"{place}.clients[{c}].subscriptions", [s.topic for s in client.subscriptions or ()], "topic")
            unique(f"{place}.clients[{c}].status", [s.topic for s in client.status or ()], "topic")
        for o, offset in enumerate(group.offsets or ()):
            if offset.last_timestamp not in utc:
                time(f"{place}.offsets[{o}].last_timestamp", offset.last_timestamp)
            for s, sample in enumerate(offset.samples or ()):
                if sample.at not in utc:
                    time(f"{place}.offsets[{o}].samples[{s}].at", sample.at)
