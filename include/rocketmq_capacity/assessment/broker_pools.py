"""The thread pools of brokers that answer clients, beside what clients ask of them.

A pull or a pop that waits is handled twice: when it comes, and when messages or the end of its time wake it. Heartbeats
wait 31 s for a thread at most, pulls 5 s, and messages to store 0.2 s; then the broker answers that it is busy.
``clientManageThreadPoolNums`` answers clients only when they stop, ``litePullMessageThreadPoolNums`` those that pull by
themselves, which nobody can foresee.
Source: BrokerController.registerProcessor, PullMessageProcessor.executeRequestWhenWakeup, BrokerFastFailure,
BrokerConfig.waitTimeMillsIn…, rocketmq-all-5.3.3.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rocketmq_capacity.model.broker_figures import figure
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.tables import Broker, BrokerPool, ClientCost

MS: Final = 1_000


class Pool(NamedTuple):
    """A pool: the names of its threads and its queue among a broker's settings, and of its figures."""

    threads: str
    capacity: str
    figures: str | None = None


PULL_POOL: Final = Pool("pullMessageThreadPoolNums", "pullThreadPoolQueueCapacity", "pullThreadPoolQueue")
LITE_PULL_POOL: Final = Pool(
    "litePullMessageThreadPoolNums", "litePullThreadPoolQueueCapacity", "litePullThreadPoolQueue"
)
SEND_POOL: Final = Pool("sendMessageThreadPoolNums", "sendThreadPoolQueueCapacity", "sendThreadPoolQueue")
ACK_POOL: Final = Pool("ackMessageThreadPoolNums", "ackThreadPoolQueueCapacity", "ackThreadPoolQueue")
HEARTBEAT_POOL: Final = Pool("heartbeatThreadPoolNums", "heartbeatThreadPoolQueueCapacity")
CLIENT_POOL: Final = Pool("clientManageThreadPoolNums", "clientManagerThreadPoolQueueCapacity")
CONSUMER_POOL: Final = Pool("consumerManageThreadPoolNums", "consumerManagerThreadPoolQueueCapacity")
BALANCE_POOL: Final = Pool("loadBalanceProcessorThreadPoolNums", "loadBalanceThreadPoolQueueCapacity")


def broker_pools(
    costs: Iterable[ClientCost], masters: Iterable[Broker], puts: Mapping[str, float | None]
) -> Iterator[BrokerPool]:
    """A row for each pool of each master whose settings are known.

    Args:
        costs: what clients ask of each master.
        masters: the masters.
        puts: messages a second that each stores; a batch of them is one request.
    """
    brokers = {one.broker_name: one for one in masters}
    for cost in costs:
        broker = brokers[cost.broker_name]
        if broker.config is None:
            continue
        reads = sum_of((cost.pulls_per_s_upper, cost.pops_per_s_upper))
        requests_of_pool = {
            PULL_POOL: None if reads is None else 2 * reads,
            LITE_PULL_POOL: None,
            SEND_POOL: puts.get(cost.broker_name),
            ACK_POOL: cost.acks_per_s,
            HEARTBEAT_POOL: cost.heartbeats_per_s,
            CLIENT_POOL: None,
            CONSUMER_POOL: sum_of((cost.member_lookups_per_s, cost.offset_commits_per_s)),
            BALANCE_POOL: cost.assignment_queries_per_s,
        }
        for pool, requests in requests_of_pool.items():
            yield _row(broker, pool, requests)


def _row(broker: Broker, pool: Pool, requests: float | None) -> BrokerPool:
    config, runtime = broker.config or {}, broker.runtime or {}
    threads = whole_number(config.get(pool.threads))
    return BrokerPool(
        broker_name=broker.broker_name,
        pool=pool.threads,
        threads=threads,
        queue_capacity=whole_number(config.get(pool.capacity)),
        queue_size=None if pool.figures is None else whole_number(runtime.get(f"{pool.figures}Size")),
        head_wait_ms=None if pool.figures is None else figure(runtime, f"{pool.figures}HeadWaitTimeMills"),
        requests_per_s=requests,
        thread_ms=threads * MS / requests if threads and requests else None,
    )
