"""What a sample between two plans stores: how far topics are written, how much groups have not read, who reads."""

from typing import Annotated, ClassVar, Final

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset


class BrokerSample(Dataset, frozen=True, kw_only=True):
    """The brokers of each sample.

    Grain: one row a sample and broker name.
    """

    KEY: ClassVar[tuple[str, ...]] = ("at", "broker_name")

    at: Annotated[str, means("when the sample was taken")]
    broker_name: Annotated[str, means("name of the broker")]
    cluster_name: Annotated[str, means("name of the cluster, as in an inventory")]
    has_answered: Annotated[bool, means("whether it has said which offsets groups have committed")]


class TopicSample(Dataset, frozen=True, kw_only=True):
    """How far topics are written that some group reads. A rate is what was written between two samples.

    Grain: one row a sample, topic and broker that answered; business topics only. Of hours that are in
    topic_hour_sample only the last sample is kept.
    Units: messages; seconds, rounded to tenths.
    """

    KEY: ClassVar[tuple[str, ...]] = ("at", "topic", "broker_name")

    at: Annotated[str, means("when the sample was taken")]
    topic: Annotated[str, means("name of the topic")]
    broker_name: Annotated[str, means("name of the broker")]
    after_s: Annotated[Amount, means("seconds from the beginning of the sample until the broker said it")]
    queues: Annotated[Count, means("its queues on the broker")]
    written: Annotated[BigCount, means("sum of the offsets that their next messages will be written at")]


class TopicHourSample(Dataset, frozen=True, kw_only=True):
    """What the samples of an hour that is over tell of a topic. A step between two samples is in the hour of its middle.

    Grain: one row an hour and topic that some broker told in it.
    Units: messages; seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("at", "topic")

    at: Annotated[str, means("when the hour began")]
    topic: Annotated[str, means("name of the topic")]
    sampled_s: Annotated[
        Amount, means("how long the steps took of which every broker that has the topic told what was written")
    ]
    msgs: Annotated[Amount, means("messages that were written in these steps")]
    most_msgs_per_s: Annotated[Amount, means("the highest rate of one of these steps; 0 without any")]


class GroupSample(Dataset, frozen=True, kw_only=True):
    """How much groups have not read.

    Grain: one row a sample and group that has committed an offset of a business topic. Of an hour that is over only the
    row with the most is kept.
    Units: messages.
    """

    KEY: ClassVar[tuple[str, ...]] = ("at", "consumer_group")

    at: Annotated[str, means("when the sample was taken")]
    consumer_group: Annotated[str, means("name of the group")]
    lag: Annotated[
        BigCount | None,
        means("messages of business topics that it has not committed, at most; null if that of a queue is unknown"),
    ] = None


class MemberSample(Dataset, frozen=True, kw_only=True):
    """The members of groups, as one broker knows them; it is the same broker while it has queues of the group.

    Grain: one row a group and stretch of samples with the same members. A group without members has no row, because
    brokers do not know the clients of Proxies.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "first_at")

    consumer_group: Annotated[str, means("name of the group")]
    first_at: Annotated[str, means("the first sample of the stretch")]
    last_at: Annotated[str, means("the last sample of the stretch")]
    broker_name: Annotated[str, means("the broker that was asked")]
    client_ids: Annotated[tuple[str, ...], means("client ids, sorted; the same one twice is two consumers")]


class SampleFailure(Dataset, frozen=True, kw_only=True):
    """The requests of samples that failed.

    Grain: one row a sample, server and request.
    """

    KEY: ClassVar[tuple[str, ...]] = ("at", "broker_addr", "request")

    at: Annotated[str, means("when the sample was taken")]
    broker_addr: Annotated[str, means("host:port of the broker or name server; else the file of the lake")]
    request: Annotated[str, means("what was asked; READ_SAMPLE: a file of an earlier sample cannot be read")]
    error: Annotated[str | None, means("the first error, and how many more")] = None


SAMPLES: Final[tuple[type[Dataset], ...]] = (
    BrokerSample,
    TopicSample,
    TopicHourSample,
    GroupSample,
    MemberSample,
    SampleFailure,
)
"""What the app sample writes, the failures last."""
