"""The types of desired_state.yaml, and of the file with what the recommendations would change in it."""

from typing import Annotated, Final, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.numbers import JsonObject

FORMAT: Final = "rocketmq-capacity/desired-state/1"
DIFFERENCES_FORMAT: Final = "rocketmq-capacity/desired-state-differences/1"


class QueuesOnBroker(Struct, frozen=True, kw_only=True):
    """A topic on one broker."""

    broker_name: Annotated[str, means("name of the broker")]
    read_queue_nums: Annotated[int | None, means("queues that consumers see; null if unknown")]
    write_queue_nums: Annotated[int | None, means("queues that producers see; null if unknown")]
    perm: Annotated[int | None, means("the topic's own perm: 4 read + 2 write; null where the broker's may hide it")]


class DesiredTopic(Struct, frozen=True, kw_only=True):
    """A business topic."""

    topic: Annotated[str, means("its name")]
    message_type: Annotated[str | None, means("NORMAL, FIFO, DELAY, ...; null if unknown")]
    order: Annotated[bool | None, means("its order flag; null if unknown")]
    queues: Annotated[tuple[QueuesOnBroker, ...], means("by broker name")]


class SettingsOnBrokers(Struct, frozen=True, kw_only=True):
    """What some brokers have set for a group, all of them the same."""

    broker_names: Annotated[tuple[str, ...], means("these brokers, by name")]
    consume_enable: Annotated[bool | None, means("whether they give it messages; null if unknown")]
    consume_broadcast_enable: Annotated[bool | None, means("whether it may broadcast; null if unknown")]
    consume_message_orderly: Annotated[bool | None, means("whether it is set to consume in order; null if unknown")]
    retry_queue_nums: Annotated[int | None, means("queues of its retry topic; null if unknown")]
    retry_max_times: Annotated[
        int | None, means("times that a message comes again before it is a dead letter; null if unknown")
    ]


class SubscribedTopic(Struct, frozen=True, kw_only=True):
    """A business topic that a group reads."""

    topic: Annotated[str, means("its name")]
    expression_type: Annotated[str | None, means("TAG or SQL92; null if unknown")]
    expression: Annotated[str | None, means("the filter; null if unknown")]
    message_request_mode: Annotated[str, means("PULL or POP, as the plan takes it")]
    pop_share_queue_num: Annotated[
        int | None, means("under POP: clients that share a queue, 0 or less is all; null under PULL")
    ]


class DesiredGroup(Struct, frozen=True, kw_only=True):
    """A business consumer group."""

    consumer_group: Annotated[str, means("its name")]
    message_model: Annotated[str | None, means("CLUSTERING, BROADCASTING, ...; null if unknown")]
    consume_type: Annotated[str | None, means("how its clients read; null if unknown")]
    consume_from_where: Annotated[
        str | None, means("where its clients begin on a queue without an offset; null if unknown")
    ]
    orderly: Annotated[bool | None, means("whether it consumes in order; null if unknown")]
    settings: Annotated[tuple[SettingsOnBrokers, ...], means("by the first of their brokers; none if unknown")]
    subscriptions: Annotated[tuple[SubscribedTopic, ...], means("by topic; none of a group without a known client")]


class DesiredState(Struct, frozen=True, kw_only=True):
    """Business topics and consumer groups at the moment of the snapshot; what the policy excludes is left out."""

    format: Annotated[Literal["rocketmq-capacity/desired-state/1"], means("of this file")] = FORMAT
    cluster_name: Annotated[str, means("name of the cluster")]
    taken_at: Annotated[str, means("when the snapshot was taken, UTC ISO-8601")]
    fingerprint: Annotated[str, means("that of plan.json")]
    topics: Annotated[tuple[DesiredTopic, ...], means("by name, in Java's order")]
    consumer_groups: Annotated[tuple[DesiredGroup, ...], means("by name, in Java's order")]


class ChangedLine(Struct, frozen=True, kw_only=True, rename={"before": "from", "after": "to"}):
    """A line of desired_state.yaml that changes."""

    path: Annotated[
        tuple[str, ...], means("topics, topic, queues, broker name; or consumer_groups, group, subscriptions, topic")
    ]
    before: Annotated[JsonObject | None, means("the line's members as they are; null if there is no such line")]
    after: Annotated[JsonObject, means("the members as they are to be")]


class StateDifference(Struct, frozen=True, kw_only=True):
    """What a recommendation changes once all of its steps are done; how it is done is in plan.json."""

    recommendation: Annotated[str, means("its id in plan.json")]
    action: Annotated[str, means("name of the action")]
    chosen: Annotated[bool, means("whether the patch of the whole file has it")]
    why_not: Annotated[str | None, means("why it is not chosen; null if it is")]
    changes: Annotated[tuple[ChangedLine, ...], means("in the order of the file")]
    patch: Annotated[str, means("unified diff of desired_state.yaml, for git apply")]


class LeftOut(Struct, frozen=True, kw_only=True):
    """A recommendation that changes the cluster and has no patch."""

    recommendation: Annotated[str, means("its id in plan.json")]
    action: Annotated[str, means("name of the action")]
    why: Annotated[str, means("the reason")]


class Differences(Struct, frozen=True, kw_only=True):
    """What the recommendations of a plan would change in its desired_state.yaml."""

    format: Annotated[Literal["rocketmq-capacity/desired-state-differences/1"], means("of this file")] = (
        DIFFERENCES_FORMAT
    )
    cluster_name: Annotated[str, means("name of the cluster")]
    taken_at: Annotated[str, means("when the snapshot was taken, UTC ISO-8601")]
    fingerprint: Annotated[str, means("that of plan.json")]
    patch: Annotated[str, means("unified diff of all that is chosen; empty if nothing is to be changed")]
    differences: Annotated[tuple[StateDifference, ...], means("in the order of recommendations in plan.json")]
    left_out: Annotated[tuple[LeftOut, ...], means("in the same order")]
