"""What a recommendation is said to touch."""

import pytest

from rocketmq_capacity.report.wording import kind_of


@pytest.mark.parametrize(
    ("action", "changes_cluster", "kind"),
    [
        ("EXPAND_QUEUES", True, "cluster"),
        ("ADD_BROKER", False, "cluster"),
        ("CHANGE_STRATEGY", False, "clients"),
        ("INVESTIGATE", False, "look"),
    ],
)
def test_an_action_touches_the_cluster_the_clients_or_nothing(action: str, changes_cluster: bool, kind: str) -> None:
    assert kind_of(action, changes_cluster=changes_cluster) == kind
