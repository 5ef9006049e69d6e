"""Whose a consumer group is, and what it needs: entries of the policy by patterns of names."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.deployment import CONNECTION_ID
from rocketmq_capacity.settings.line import Name
from rocketmq_capacity.settings.patterns import NamePattern, is_found
from rocketmq_capacity.settings.schedule import Schedule, is_scheduled
from rocketmq_capacity.settings.section import Int, Section, Whole

_LABEL: Final = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
DEPLOYMENT: Final = rf"^{_LABEL}/{_LABEL}(\.{_LABEL})*$"
"""Names that Kubernetes takes: of a namespace, and of an object in it (RFC 1123)."""


CHANNEL: Final = f"^{CONNECTION_ID.pattern}$"


class GroupEntry(Section):
    """What the policy tells of the groups whose name matches.

    Attributes:
        match: a regular expression, searched in the name of the group.
        owner: whose the groups are.
        channel: the Airflow connection by which the owner gets notices.
        tier: how much depends on them; 1 is the most important, and comes first.
        max_lag_s: seconds that a message may wait at most (an SLO).
        min_clients: clients that the group keeps in any case.
        standby: clients that are idle on purpose.
        schedule: when the group runs.
        deployment: ``namespace/name`` of what runs its clients on Kubernetes, a client a pod.
        kind: of the deployment.
    """

    match: NamePattern
    owner: Name | None = None
    channel: Annotated[str, Field(pattern=CHANNEL)] | None = None
    tier: Whole | None = Field(default=None, ge=0, le=Int)
    max_lag_s: float | None = Field(default=None, gt=0, allow_inf_nan=False, strict=True)
    min_clients: Whole | None = Field(default=None, ge=1, le=Int)
    standby: Whole = Field(default=0, ge=0, le=Int)
    schedule: Schedule | None = None
    deployment: Annotated[str, Field(pattern=DEPLOYMENT)] | None = None
    kind: Literal["Deployment", "StatefulSet"] = "Deployment"

    @model_validator(mode="after")
    def _channel_of_an_owner(self) -> Self:
        if self.channel is not None and self.owner is None:
            raise ValueError("has a channel without an owner; expected the owner who gets the notices")
        return self

    @model_validator(mode="after")
    def _kind_of_a_deployment(self) -> Self:
        if "kind" in self.model_fields_set and self.deployment is None:
            raise ValueError("has a kind without a deployment; expected the deployment that runs the clients")
        return self

    def is_off(self, taken_at: str) -> bool:
        """Whether the groups are not expected to run in the hour of this moment."""
        return self.schedule is not None and not is_scheduled(self.schedule, taken_at)


NO_ENTRY: Final = GroupEntry(match=".")
"""What holds for a group that no entry matches."""


def entry_of(entries: Sequence[GroupEntry], consumer_group: str) -> GroupEntry:
    """The first entry that matches the group's name."""
    return next((one for one in entries if is_found(one.match, consumer_group)), NO_ENTRY)


def channels_of(entries: Sequence[GroupEntry]) -> dict[str, str]:
    """By owner, the channel that an entry of the owner names.

    Errors: ValueError if entries of one owner name different channels.
    """
    channels: dict[str, str] = {}
    for entry in entries:
        if entry.owner is not None and entry.channel is not None:
            first = channels.setdefault(entry.owner, entry.channel)
            if first != entry.channel:
                named = f"{shown(entry.owner)} has the channels {first} and {entry.channel}"
                raise ValueError(f"{named}; expected one channel for each owner")
    return channels


def check_kinds(entries: Sequence[GroupEntry]) -> None:
    """Check that entries of one deployment name one kind: what scales it has the deployment's name.

    Errors: ValueError if they name different kinds.
    """
    kinds: dict[str, str] = {}
    for entry in entries:
        if entry.deployment is not None and kinds.setdefault(entry.deployment, entry.kind) != entry.kind:
            named = f"{entry.deployment} has the kinds {kinds[entry.deployment]} and {entry.kind}"
            raise ValueError(f"{named}; expected one kind for each deployment")
