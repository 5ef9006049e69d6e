"""Rows of what clients cost brokers, as the plan file has them."""

from msgspec import structs

from rocketmq_capacity.plan_file.client_cost import ClientRequests, PoolUse
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.tables.assess.client_costs import BrokerPool, ClientCost


def client_requests(row: ClientCost) -> ClientRequests:
    """What clients ask of a broker, with figures that are the same in every run."""
    requests: ClientRequests = steady(
        ClientRequests(**{name: getattr(row, name) for name in ClientRequests.__struct_fields__})
    )
    return requests


def pool_use(row: BrokerPool) -> PoolUse:
    """A pool of a broker."""
    fields = structs.asdict(row)
    pool: PoolUse = steady(PoolUse(**{name: fields[name] for name in PoolUse.__struct_fields__}))
    return pool
