"""Dataset ``group_status``."""

from typing import Annotated

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Int


class GroupStatus(Dataset, frozen=True, kw_only=True):
    """A business group at a glance.

    Grain: one row a group.
    Key: consumer_group.
    Units: consumers and client ids, counted; ``utilisation`` is a ratio, 1 is always busy.
    """

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    message_model: Annotated[
        str | None,
        Meta(
            description="CLUSTERING, BROADCASTING or LITE_SELECTIVE; null is judged as CLUSTERING, and at a LITE topic as LITE_SELECTIVE"
        ),
    ] = None
    message_request_mode: Annotated[str, Meta(description="PULL, POP, or MIXED if its topics differ")]
    protocol: Annotated[
        str | None, Meta(description="of its clients: REMOTING, GRPC, or MIXED if they differ; null without clients")
    ] = None
    connections: Annotated[Int, Meta(description="running consumers; equal client ids count separately")]
    distinct_client_ids: Annotated[Int, Meta(description="different client ids")]
    topics: Annotated[tuple[str, ...], Meta(description="its business topics")]
    max_useful_clients: Annotated[
        Int | None,
        Meta(
            description="readable queues of its largest pulled topic; more clients than this are idle; null for POP, for gRPC clients, and for groups that are not clustering"
        ),
    ] = None
    provision_status: Annotated[
        str, Meta(description="UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED")
    ]
    provision_reason: Annotated[str | None, Meta(description="why, in words")] = None
    current_strategy: Annotated[
        str | None,
        Meta(
            description="strategy in use, MIXED if clients report different ones; null for groups that are not clustering"
        ),
    ] = None
    current_strategy_source: Annotated[
        str | None, Meta(description="how that is known: reported, observed, policy or default")
    ] = None
    utilisation: Annotated[
        float | None, Meta(description="busy share of its busiest client (incoming / capacity); null if unknown")
    ] = None
    utilisation_lower: Annotated[
        float | None, Meta(description="the same, if every unknown response time were the shortest known of its topic")
    ] = None
    utilisation_upper: Annotated[
        float | None, Meta(description="the same, if every unknown response time were the longest known of its topic")
    ] = None
    busiest_client: Annotated[str | None, Meta(description="id of its busiest client")] = None
    peak_factor: Annotated[
        float | None,
        Meta(
            description="messages at the busiest of the samples / the usual rate, at least 1; the verdict is for that moment"
        ),
    ] = None
    is_size_known: Annotated[
        bool, Meta(description="how busy its clients would be can be computed for other numbers of them")
    ] = False
    needed_clients_lower: Annotated[
        Int | None, Meta(description="needed_clients_target, if unknown response times were the shortest known")
    ] = None
    needed_clients_target: Annotated[
        Int | None,
        Meta(
            description="smallest number of clients that keeps the busiest one within under_utilisation, as simulated; null if no number is enough, or if unknown"
        ),
    ] = None
    needed_clients_upper: Annotated[
        Int | None, Meta(description="needed_clients_target, if unknown response times were the longest known")
    ] = None
    min_safe_clients: Annotated[
        Int | None,
        Meta(
            description="clients that are needed if clients like the median one shared the work evenly, but not fewer "
            "than today while the group falls behind"
        ),
    ] = None
    provision_doubt: Annotated[
        str | None, Meta(description="which fact must be wrong, if clients consume at another rate than messages come")
    ] = None
    pass_ratios: Annotated[
        dict[str, float] | None,
        Meta(
            description="for each topic with a filter, the share of messages that it lets through; null without a filter"
        ),
    ] = None
    untold_filters: Annotated[tuple[str, ...], Meta(description="topics with a filter whose share is unknown")] = ()
