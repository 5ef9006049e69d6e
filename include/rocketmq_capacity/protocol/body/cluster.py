"""What a name server knows: brokers (106), topics (206) and routes (105)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_QUEUES

GLOBAL_SCOPE: Final = "__global__"
"""The scope of a static topic that names none (MixAll.METADATA_SCOPE_GLOBAL)."""


@dataclass(frozen=True, slots=True)
class BrokerData:
    """The processes under one broker name, by broker id."""

    cluster: str | None
    broker_name: str
    addresses: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """The answer to 106: brokers by name, broker names by cluster."""

    brokers: tuple[BrokerData, ...]
    clusters: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class TopicList:
    """The answer to 206."""

    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueueData:
    """A topic's queues on one broker; ``perm`` is combined with the broker's own."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int


@dataclass(frozen=True, slots=True)
class StaticMapping:
    """The logical queues of a static topic that one broker holds: ``total_queues`` counts those of all brokers."""

    broker_name: str
    scope: str
    total_queues: int
    queue_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TopicRoute:
    """The answer to 105."""

    queues: tuple[QueueData, ...]
    brokers: tuple[BrokerData, ...]
    static_mappings: tuple[StaticMapping, ...]


def decode_cluster_info(body: bytes) -> ClusterInfo:
    """Read 106. Source: ClusterInfo.java, rocketmq-all-5.3.3."""
    info = field.as_object(tolerant_json.decode(body), "ClusterInfo")
    table = field.as_object(info.get("brokerAddrTable"), "brokerAddrTable")
    clusters = field.as_object(info.get("clusterAddrTable"), "clusterAddrTable")
    return ClusterInfo(
        brokers=tuple(_broker_data(value, f"brokerAddrTable.{name}") for name, value in table.items()),
        clusters={
            field.name(name, "a key of clusterAddrTable"): field.names(value, f"clusterAddrTable.{name}")
            for name, value in clusters.items()
        },
    )


def decode_topic_list(body: bytes) -> TopicList:
    """Read 206. Source: TopicList.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "TopicList")
    return TopicList(field.names(members.get("topicList"), "topicList"))


def decode_topic_route(body: bytes) -> TopicRoute:
    """Read 105. Source: TopicRouteData.java, rocketmq-all-5.3.3."""
    route = field.as_object(tolerant_json.decode(body), "TopicRouteData")
    mappings = field.as_object(route.get("topicQueueMappingByBroker"), "topicQueueMappingByBroker")
    queues = tuple(_queue_data(value) for value in field.as_list(route.get("queueDatas"), "queueDatas"))
    if len({one.broker_name for one in queues}) < len(queues):
        raise BodyError("queueDatas names a broker twice; expected each once")
    return TopicRoute(
        queues=queues,
        brokers=tuple(
            _broker_data(value, "brokerDatas") for value in field.as_list(route.get("brokerDatas"), "brokerDatas")
        ),
        static_mappings=tuple(_static_mapping(name, value) for name, value in mappings.items()),
    )


def _broker_data(value: Any, place: str) -> BrokerData:
    members = field.as_object(value, place)
    addresses = field.texts(members.get("brokerAddrs"), f"{place}.brokerAddrs")
    return BrokerData(
        cluster=field.optional_text(members, "cluster", place),
        broker_name=field.named(members, "brokerName", place),
        addresses={field.numbered(key, f"{place}.brokerAddrs"): address for key, address in addresses.items()},
    )


def _queue_data(value: Any) -> QueueData:
    members = field.as_object(value, "queueDatas")
    return QueueData(
        broker_name=field.named(members, "brokerName", "queueDatas"),
        read_queue_nums=field.queues(members, "readQueueNums", "queueDatas"),
        write_queue_nums=field.queues(members, "writeQueueNums", "queueDatas"),
        perm=field.integer(members, "perm", "queueDatas"),
    )


def _static_mapping(broker_name: str, value: Any) -> StaticMapping:
    place = f"topicQueueMappingByBroker.{broker_name}"
    members = field.as_object(value, place)
    queue_ids = field.as_object(members.get("currIdMap"), f"{place}.currIdMap")
    return StaticMapping(
        broker_name=broker_name,
        scope=field.optional_text(members, "scope", place) or GLOBAL_SCOPE,
        total_queues=field.integer(members, "totalQueues", place, default=0, least=0, most=MAX_QUEUES),
        queue_ids=tuple(field.numbered(key, f"{place}.currIdMap", most=MAX_QUEUES) for key in queue_ids),
    )
