"""What a what-if means for a broadcasting group, whose clients each read every queue."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.before_after import BeforeAfterCount, BeforeAfterRate


class BroadcastGroup(Struct, frozen=True, kw_only=True):
    """What the changes mean for a broadcasting group. Each client keeps its offsets in a file of its own."""

    consumer_group: Annotated[str, means("the group")]
    new_clients: Annotated[int, means("client ids that come")]
    gone_clients: Annotated[int, means("client ids that go")]
    queues_per_client: Annotated[BeforeAfterCount, means("queues that the client with most of them reads")]
    new_queues: Annotated[int, means("new queues of topics that its clients read before as well")]
    new_topics: Annotated[tuple[str, ...], means("topics that its clients read for the first time after a deployment")]
    gone_queues: Annotated[int, means("queues that its clients can read no more")]
    msgs_per_s_per_client: Annotated[BeforeAfterRate, means("messages a second that the busiest client handles")]
    deliveries_per_s: Annotated[
        BeforeAfterRate, means("messages a second that brokers deliver to all of its clients together")
    ]
    consume_from_where: Annotated[
        str | None, means("where a client without an offset begins; null if unknown: at the end, by default")
    ]
    stored_messages: Annotated[
        int | None,
        means(
            "messages that are stored on what a client reads for the first time: by a new client all,"
            " else `new_topics`; it handles them first if it begins at the first offset, and skips them"
            " if it begins at the end; 0 without either, null if unknown"
        ),
    ]
    noticed_worst_s: Annotated[
        float | None, means("seconds until every client reads the new queues, at worst; null without any")
    ]
    skipped_worst: Annotated[
        float | None,
        means(
            "messages on new queues that each client may skip: what comes until it reads them, at worst; 0 "
            "if it begins at the first offset, null if unknown"
        ),
    ]
    meaning: Annotated[tuple[str, ...], means("what that means, in words")]
