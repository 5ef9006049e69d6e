"""Groups with remoting clients at the brokers and others behind a Proxy in cluster mode.

A client asks for the members of its group where it sends its heartbeats. A Proxy answers with the clients of all
Proxies, and a broker with its own. So each side divides all queues among its own clients.
Source: ConsumerManagerActivity and ClientManagerActivity of the Proxy, ConsumerManageProcessor of the broker;
rocketmq-all-5.3.3.
"""

from rocketmq_capacity.model.facts import GroupFacts


def behind_proxies(group: GroupFacts, broker_names: frozenset[str]) -> set[str]:
    """The ids of remoting clients that no broker names, but an address does: that of a Proxy."""
    return {
        one.client_id
        for one in group.consumers
        if not one.is_grpc and one.seen_on and all(":" in name and name not in broker_names for name in one.seen_on)
    }


def is_divided_twice(group: GroupFacts, broker_names: frozenset[str]) -> bool:
    """Whether both sides have clients, and these divide the queues themselves."""
    if not group.is_clustering or not group.pulls:
        return False
    behind = behind_proxies(group, broker_names)
    at_brokers = (one for one in group.consumers if not one.is_grpc and one.client_id not in behind)
    return bool(behind) and any(not broker_names.isdisjoint(one.seen_on or ()) for one in at_brokers)
