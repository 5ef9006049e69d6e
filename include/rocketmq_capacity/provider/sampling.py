"""How often the Dag of the samples runs."""

from datetime import timedelta

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.settings.policy import Samples, read_policy


def every(places: DeploymentPlaces) -> timedelta | None:
    """The time between two samples; None in a deployment without clusters, where no run has anything to do.

    It is the default if the policy file has an error, which the task then says.
    """
    if not places.clusters:
        return None
    try:
        samples = read_policy(places.policy).samples
    except BadInput:
        samples = Samples()
    return timedelta(minutes=samples.every_minutes)
