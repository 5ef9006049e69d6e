"""Cases of the answers: groups and topics that know nothing of each other and share one cluster.

As in ``tests.assessment.cases``; a test module collects its own in a module constant ``CASES``, and all that were
collected are answered in one plan. Without other facts a topic's order flag and type are known and nothing forbids.
"""

from typing import Any, Final

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryBroker, InventoryFailure, TopicQueues
from tests.assessment.cases import READ_ONLY, Part, members

NAMESERVERS: Final = ("10.0.9.1:9876", "10.0.9.2:9876")
NAMESERVER: Final = "10.0.9.1:9876;10.0.9.2:9876"
CONFIGURED: Final = "configured"
"""A group that runs CONFIG, on the topic of its name."""
POLICY: Final = Policy.model_validate({
    "config_assignments": {
        CONFIGURED: {
            "c01": [{"topic": CONFIGURED, "broker_name": "broker-a", "queue_id": 0}],
            "c02": [{"topic": CONFIGURED, "broker_name": "broker-b", "queue_id": 0}],
        }
    }
})
HOSTILE_BROKER: Final = "evil\nbroker'; reboot"
SILENT: Final = "silent"
"""A broker that failed to answer one request."""


def broker(name: str, broker_id: int = 0, **facts: Any) -> InventoryBroker:
    """A broker of 5.3.3 on its own name's port 10911."""
    usual: dict[str, Any] = {"broker_addr": f"{name}:{10911 + broker_id}", "broker_perm": 6, "version": "V5_3_3"}
    return InventoryBroker(broker_name=name, broker_id=broker_id, **usual | facts)


BROKERS: Final = (
    broker("broker-a"),
    broker("broker-b", config={"autoCreateSubscriptionGroup": "false"}),
    broker("readonly", broker_perm=READ_ONLY),
    broker("masterless", broker_id=1),
    # Read-only, so that no topic is missed there.
    broker(SILENT, broker_perm=READ_ONLY),
    broker("old", broker_perm=READ_ONLY, version="V4_9_8"),
    broker("timerless", broker_perm=READ_ONLY, config={"timerWheelEnable": "false"}),
    broker(HOSTILE_BROKER, broker_perm=READ_ONLY, broker_addr="$(reboot):10911"),
)
FAILURES: Final = (
    InventoryFailure(broker_addr=f"{SILENT}:10911", request="GET_BROKER_CONFIG", error="timed out after 5 s"),
)


class Cases(Part):
    """The topics and groups of a test module's cases."""

    def topic(self, name: str, *layout: TopicQueues, **facts: Any) -> str:
        """Add a topic that is not ordered; gives its name."""
        return super().topic(name, *layout, **{"order": False, "message_type": "NORMAL"} | facts)


def java_members(count: int, version: str = "V5_3_3", **facts: Any) -> list[Client]:
    """Java consumers of one version."""
    return members(count, language="JAVA", version=version, **facts)
