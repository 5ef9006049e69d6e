"""The change `lose_nameserver`."""

from typing import Annotated, Literal

from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.plan_file.lost_nameserver import Loss
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import NAMES, Name, ScenarioChange
from rocketmq_capacity.simulation.nameservers import without_nameserver
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory


class LoseNameserver(ScenarioChange):
    """A name server is dead, or the brokers do not reach it any more."""

    EXAMPLE = "nameserver: {nameserver}"

    change: Literal["lose_nameserver"]
    nameserver: Annotated[
        Name, Field(title="Name server", description="HOST:PORT", json_schema_extra={NAMES: "nameservers"})
    ]
    loss: Annotated[
        Loss,
        Field(
            title="How it is lost",
            description="with its machine or network (SILENT, the usual value); as a killed process (KILL); or brokers "
            "do not reach it, but clients do (CUT_OFF)",
        ),
    ] = "SILENT"

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster with the routes that the other name servers give; with the routes as they are if none is left.

        Clients keep their routes if nobody gives them another one.
        :func:`rocketmq_capacity.simulation.lost_nameservers.lost_nameservers` says what they know until when.

        Errors: :class:`BadInput` for an unknown name server, and for an inventory that names none.
        Source: MQClientInstance.updateTopicRouteInfoFromNameServer, rocketmq-all-5.3.3.
        """
        known = inventory.nameservers or ()
        if not known:
            problem = f"is {shown(self.nameserver)}, but the inventory names no name server that is left"
            raise place.refusal("nameserver", f"{problem}; expected one of its nameservers")
        place.check_known("nameserver", self.nameserver, known, "name server")
        return without_nameserver(inventory, self.nameserver)

    @property
    def lost_nameserver(self) -> tuple[str, Loss]:
        """The name server, and how it is lost."""
        return self.nameserver, self.loss
