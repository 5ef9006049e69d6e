"""Dataset ``consumer_group``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Count, Dataset, Facts, one_of
from rocketmq_capacity.vocabulary import UnseenClients


class GroupPart(Facts, frozen=True, kw_only=True):
    """What rules use of a group itself."""

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    kind: Annotated[
        str,
        one_of("BUSINESS", "SYSTEM", "EXCLUDED"),
        Meta(description="BUSINESS, SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)"),
    ]
    message_model: Annotated[
        str | None,
        Meta(
            description="CLUSTERING, BROADCASTING or LITE_SELECTIVE; null is judged as CLUSTERING, and at a LITE topic as LITE_SELECTIVE"
        ),
    ] = None
    consume_type: Annotated[str | None, Meta(description="CONSUME_PASSIVELY (push) or CONSUME_ACTIVELY (pull)")] = None
    consume_from_where: Annotated[
        str | None,
        Meta(
            description="where its clients begin on a queue without an offset, such as CONSUME_FROM_FIRST_OFFSET; null is"
            " judged as CONSUME_FROM_LAST_OFFSET"
        ),
    ] = None
    message_request_mode: Annotated[
        str, one_of("PULL", "POP", "MIXED"), Meta(description="PULL, POP or MIXED over the group's business topics")
    ]
    is_orderly: Annotated[bool | None, Meta(description="consumes in order")] = None
    protocol: Annotated[
        str | None,
        one_of("REMOTING", "GRPC", "MIXED"),
        Meta(description="of its clients: REMOTING, GRPC, or MIXED if they differ; null without clients"),
    ] = None
    unseen_clients: Annotated[
        UnseenClients | None,
        Meta(
            description="why a group without known clients may still have some: PROXY_UNNAMED, OFFSETS_MOVE or PROXIES_SILENT; else null"
        ),
    ] = None
    connections: Annotated[Count, Meta(description="running consumers; equal client ids count separately")]
    distinct_client_ids: Annotated[Count, Meta(description="different client ids")]


class ConsumerGroup(GroupPart, Dataset, frozen=True, kw_only=True):
    """Consumer groups: their settings on the brokers, and their members.

    Grain: one row a group.
    Units: consumers and client ids, counted.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group",)
