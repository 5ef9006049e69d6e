"""A model as an inventory file of the public contract, at a moment."""

from collections.abc import Iterator
from typing import Final

from tests.advice.model import Broker, Client, Group, Lag, Model, Topic
from tests.advice.shape import (
    CLUSTER,
    KEPT_H,
    MESSAGE_BYTES,
    NAMESERVERS,
    PROXIES,
    SAMPLE_S,
    SAMPLES,
    Moment,
    Queue,
    Row,
    dice,
)

DAY_S: Final = 86_400
BEGAN_DAYS: Final = 40
"""How long ago topics were created."""
CRASHED_S: Final = 300
"""How long before a snapshot a client was started that ends again and again."""
GIB: Final = 2**30
SYSTEM_TOPICS: Final = ("TBW102", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "OFFSET_MOVED_EVENT")


def inventory_of(model: Model, moment: Moment) -> Row:
    """The whole file."""
    return {
        "format": "rocketmq-capacity/inventory/1",
        "cluster_name": CLUSTER,
        "taken_at": moment.at(),
        "nameservers": list(NAMESERVERS),
        "brokers": [row for broker in model.brokers.values() for row in _brokers(model, broker, moment)],
        "proxies": [{"proxy_addr": address, "mode": "CLUSTER", "version": "V5_3_3"} for address in PROXIES],
        "topics": sorted(_topics(model, moment), key=lambda row: row["topic"]),
        "consumer_groups": [_group(model, group, moment) for group in model.groups.values()],
        "producers": list(_producers(model)),
        "failures": [],
    }


def address_of(broker: Broker, broker_id: int = 0) -> str:
    return f"10.0.{broker.number}.{broker_id + 1}:10911"


def _brokers(model: Model, broker: Broker, moment: Moment) -> Iterator[Row]:
    rate = moment.traffic * sum(
        rate
        for topic in model.topics.values()
        for queue, rate in topic.rates.items()
        if queue.broker_name == broker.name
    )
    bytes_kept = int(rate * MESSAGE_BYTES * KEPT_H * 3600)
    end = int(10**12 + rate * MESSAGE_BYTES * DAY_S * (30 - moment.days_before))
    total_gib = max(bytes_kept, GIB) / broker.disk_ratio / GIB
    disk_ratio = broker.disk_ratio - broker.disk_growth * moment.days_before
    free_gib = total_gib * (1 - disk_ratio)
    earliest_ms = int(moment.taken_at.timestamp() * 1000) - KEPT_H * 3_600_000
    today, day = int(rate * 2 * 3600), int(rate * DAY_S)
    for broker_id in range(1 + broker.has_slave):
        yield {
            "broker_name": broker.name,
            "broker_id": broker_id,
            "broker_addr": address_of(broker, broker_id),
            "broker_perm": broker.perm,
            "version": "V5_3_3",
            "config": {
                "brokerClusterName": CLUSTER,
                "brokerName": broker.name,
                "brokerId": str(broker_id),
                "brokerRole": "SLAVE" if broker_id else "ASYNC_MASTER",
                "brokerPermission": str(broker.perm),
                "fileReservedTime": str(broker.keeps_h),
                "deleteWhen": "04",
                "diskMaxUsedSpaceRatio": "75",
                "slaveReadEnable": "true",
                "enableSlaveActingMaster": "false",
                "defaultMessageRequestMode": "PULL",
                "defaultPopShareQueueNum": "-1",
            },
            "runtime": {
                "brokerVersionDesc": "V5_3_3",
                "commitLogDiskRatio": f"{disk_ratio:.2f}",
                "consumeQueueDiskRatio": f"{disk_ratio:.2f}",
                "commitLogDirCapacity": f"Total : {total_gib:.1f} GiB, Free : {free_gib:.1f} GiB.",
                "commitLogMinOffset": str(end - bytes_kept),
                "commitLogMaxOffset": str(end),
                "earliestMessageTimeStamp": str(earliest_ms),
                "bootTimestamp": str(int(moment.taken_at.timestamp() * 1000) - 40 * DAY_S * 1000),
                "putTps": " ".join(f"{0.0 if broker_id else rate:.4f}" for _ in range(3)),
                "getTransferredTps": " ".join(f"{0.0 if broker_id else rate:.4f}" for _ in range(3)),
                "putMessageAverageSize": f"{MESSAGE_BYTES:.1f}",
                "msgPutTotalTodayNow": str(day * 30 + today),
                "msgPutTotalTodayMorning": str(day * 30),
                "msgPutTotalYesterdayMorning": str(day * 29),
                "sendThreadPoolQueueHeadWaitTimeMills": "0",
                "pageCacheLockTimeMills": "0",
                "dispatchBehindBytes": "0",
            },
        }


def _topics(model: Model, moment: Moment) -> Iterator[Row]:
    for topic in model.topics.values():
        yield _topic(topic.name, topic.message_type, topic, moment)
    first = list(model.brokers)[:2]
    for name in SYSTEM_TOPICS:
        yield _quiet_topic(name, first)
    for name in model.brokers:
        yield _quiet_topic(name, [name])
    for group in model.groups.values():
        if not group.is_broadcasting:
            yield _retry_topic(model, group, moment)


def _topic(name: str, message_type: str, topic: Topic, moment: Moment) -> Row:
    written = [
        Queue(name, broker, queue_id)
        for broker, place in sorted(topic.places.items())
        for queue_id in range(max(place.read, place.write))
    ]
    return {
        "topic": name,
        "message_type": message_type,
        "order": message_type == "FIFO",
        "queues": [
            {"broker_name": broker, "read_queue_nums": place.read, "write_queue_nums": place.write, "perm": place.perm}
            for broker, place in sorted(topic.places.items())
        ],
        "offsets": [
            {
                "broker_name": queue.broker_name,
                "queue_id": queue.queue_id,
                "min_offset": _end(topic, queue, moment, KEPT_H * 3600),
                "max_offset": _end(topic, queue, moment),
                "put_msgs_per_s": round(_rate(topic, queue, moment), 4),
            }
            for queue in written
        ],
    }


def _end(topic: Topic, queue: Queue, moment: Moment, seconds_before: float = 0) -> int:
    """How far a queue was written so many seconds before the moment: tonight's rate within it, the usual one before."""
    days = moment.days_before
    usual_days = (BEGAN_DAYS - days) - topic.growth * (BEGAN_DAYS**2 - days**2) / 2
    return int(topic.rates.get(queue, 0.0) * DAY_S * usual_days - _rate(topic, queue, moment) * seconds_before)


def _rate(topic: Topic, queue: Queue, moment: Moment) -> float:
    return topic.rates.get(queue, 0.0) * moment.traffic * (1 - topic.growth * moment.days_before)


def _quiet_topic(name: str, brokers: list[str]) -> Row:
    return {
        "topic": name,
        "message_type": "NORMAL",
        "order": False,
        "queues": [
            {"broker_name": broker, "read_queue_nums": 1, "write_queue_nums": 1, "perm": 6} for broker in brokers
        ],
        "offsets": [
            {"broker_name": broker, "queue_id": 0, "min_offset": 0, "max_offset": 0, "put_msgs_per_s": 0.0}
            for broker in brokers
        ],
    }


def _retry_topic(model: Model, group: Group, moment: Moment) -> Row:
    brokers = model.brokers_of(group)
    row = _quiet_topic(group.retry_topic, brokers)
    incoming = model.incoming(group)
    failed = sum(incoming[one.client_id] * one.failed_ratio for one in group.clients)
    for offset in row["offsets"] if failed else ():
        rate = failed / len(brokers)
        offset |= {"max_offset": int(rate * DAY_S), "put_msgs_per_s": round(rate, 4)}
    return row


def _group(model: Model, group: Group, moment: Moment) -> Row:
    retry = [] if group.is_broadcasting else [_reads(group.retry_topic, "*")]
    subscriptions = [*retry, *(_reads(name, group.expression) for name in group.topics)]
    for each in subscriptions:
        each["message_request_mode"] = "POP" if group.is_popping and each["topic"] in group.topics else "PULL"
    row: Row = {
        "consumer_group": group.name,
        "message_model": "BROADCASTING" if group.is_broadcasting else "CLUSTERING",
        "consume_type": "CONSUME_PASSIVELY",
        "message_request_mode": "POP" if group.is_popping else "PULL",
        "orderly": group.orderly,
        "subscriptions": subscriptions,
        "clients": _clients(model, group, moment),
    }
    if group.is_popping:
        row["pop_share_queue_num"] = group.pop_share
    if group.is_broadcasting and not group.stale_offsets:
        return row
    return row | {"offsets": list(_offsets(model, group, moment))}


def _reads(topic: str, expression: str) -> Row:
    return {"topic": topic, "expression_type": "TAG", "expression": expression}


def _clients(model: Model, group: Group, moment: Moment) -> list[Row]:
    if group.protocol == "GRPC":
        return [
            {
                "client_id": one.client_id,
                "client_addr": one.addr,
                "protocol": "GRPC",
                "language": "JAVA",
                "version": one.version,
                "seen_on": list(PROXIES[:1]),
            }
            for one in group.clients
        ]
    own: list[list[Queue]] = [[] for _ in group.clients]
    rates: list[dict[str, float]] = [{} for _ in group.clients]
    for name in group.topics:
        topic = model.topics[name]
        readers = len(group.clients) if group.is_popping else 1
        for place, (_, share) in enumerate(model.owned(group, topic.readable)):
            own[place] += share
            rates[place][name] = sum(topic.rates.get(queue, 0.0) for queue in share) * group.passes / readers
    retried: list[list[Queue]] = [[] for _ in group.clients]
    if not group.is_broadcasting and group.config is None:
        retry = [Queue(group.retry_topic, broker, 0) for broker in model.brokers_of(group)]
        pulling = Group(group.name, "", group.topics, group.strategy, group.clients)
        for place, (_, share) in enumerate(model.owned(pulling, retry)):
            retried[place] = share
    return [
        _client(model, group, one, [*retried[place], *own[place]], rates[place], moment)
        for place, one in enumerate(group.clients)
    ]


def _client(model: Model, group: Group, one: Client, own: list[Queue], rates: dict[str, float], moment: Moment) -> Row:
    topics = group.topics if one.topics is None else one.topics
    retry = [] if group.is_broadcasting else [_reads(group.retry_topic, "*")]
    strategy = one.strategy or group.strategy
    rates = {name: rate * moment.traffic for name, rate in rates.items()}
    able = _able(group, one, own)
    most = min(1.0, able / max(sum(rates.values()), 1e-9))
    return {
        "client_id": one.client_id,
        "client_addr": one.addr,
        "protocol": "REMOTING",
        "language": "JAVA",
        "version": one.version,
        "seen_on": [broker for broker in model.brokers_of(group) if broker not in one.unseen_by],
        "answered_at": moment.at(),
        "started_at": moment.at(CRASHED_S) if one.crashes else Moment(30).at(),
        "allocate_strategy": "AVG" if group.is_popping else strategy,
        "consume_threads": one.threads,
        "consume_batch_size": 1,
        "pull_threshold_for_queue": 1000,
        "pull_threshold_size_for_queue_mib": 100,
        "subscriptions": [*retry, *(_reads(name, one.expression or group.expression) for name in topics)],
        "owned_queues": [_owned(group, queue, moment) for queue in own],
        "status": [
            {
                "topic": name,
                "consume_rt_ms": one.rt_ms if rate else 0.0,
                "consume_ok_msgs_per_s": round(rate * most * (1 - one.failed_ratio), 4),
                "consume_failed_msgs_per_s": round(rate * most * one.failed_ratio, 4),
            }
            for name, rate in rates.items()
            if name in topics
        ],
    }


def _able(group: Group, one: Client, own: list[Queue]) -> float:
    """The messages a second that a client can handle."""
    at_once = min(one.threads, max(1, len(own))) if group.orderly else one.threads
    return at_once * 1000 / one.rt_ms


def _owned(group: Group, queue: Queue, moment: Moment) -> Row:
    is_popped = group.is_popping and queue.topic in group.topics
    row: Row = {**queue.row(), "dropped": False, "last_pulled_at": moment.at(2)}
    if is_popped:
        return row
    is_read = queue.topic in group.topics
    return row | {
        "locked": group.orderly,
        "cached_msgs": 0,
        "last_locked_at": moment.at(7),
        "last_consumed_at": moment.at(1 if is_read else DAY_S),
    }


def _offsets(model: Model, group: Group, moment: Moment) -> Iterator[Row]:
    for broker in model.brokers_of(group):
        zero = {"broker_offset": 0, "consumer_offset": 0}
        times = [moment.at(back * SAMPLE_S) for back in range(SAMPLES, 0, -1)]
        yield {
            **Queue(group.retry_topic, broker, 0).row(),
            **zero,
            "samples": [{"at": at, **zero} for at in times],
        }
    chance = dice(group.name, moment.days_before)
    for name in group.topics:
        topic = model.topics[name]
        for queue in topic.readable:
            lag = group.lags.get(queue)
            if lag is None:
                yield _keeping_up(topic, queue, moment, [chance.random() for _ in range(SAMPLES + 1)])
            else:
                yield _behind(topic, queue, moment, lag)


def _keeping_up(topic: Topic, queue: Queue, moment: Moment, parts: list[float]) -> Row:
    """A place whose lag wobbles between nothing and what two seconds bring."""
    most = topic.rates.get(queue, 0.0) * moment.traffic * 2
    points = []
    for back, part in zip(range(SAMPLES, -1, -1), parts, strict=True):
        end = _end(topic, queue, moment, back * SAMPLE_S)
        points.append((back, end, end - int(most * part)))
    return _row(queue, moment, points, 1.0)


def _behind(topic: Topic, queue: Queue, moment: Moment, lag: Lag) -> Row:
    points = []
    for back in range(SAMPLES, -1, -1):
        end = _end(topic, queue, moment, back * SAMPLE_S)
        # A place that stands is the same in every snapshot of the history.
        place = _end(topic, queue, Moment()) - lag.now if lag.stands else end - max(0, lag.now - lag.growth * back)
        points.append((back, end, place))
    rate = topic.rates.get(queue, 0.0) * moment.traffic
    behind_s = lag.behind_s if lag.behind_s is not None else lag.now / rate if rate else DAY_S
    return _row(queue, moment, points, behind_s)


def _row(queue: Queue, moment: Moment, points: list[tuple[int, int, int]], behind_s: float) -> Row:
    *earlier, (_, end, place) = points
    return {
        **queue.row(),
        "broker_offset": end,
        "consumer_offset": place,
        "last_timestamp": moment.at(behind_s),
        "samples": [
            {"at": moment.at(back * SAMPLE_S), "broker_offset": end, "consumer_offset": place}
            for back, end, place in earlier
        ],
    }


def _producers(model: Model) -> Iterator[Row]:
    for number, topic in enumerate(model.topics.values()):
        ip = f"10.{1 + number % 2}.200.{number % 250 + 1}"
        yield {
            "producer_group": f"p_{topic.name}",
            "client_id": f"{ip}@{100 + number}#{10**14 + number}",
            "client_addr": f"{ip}:50001",
            "language": "JAVA",
            "version": "V5_3_3",
            "seen_on": sorted(topic.places),
        }
