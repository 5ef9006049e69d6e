"""What a user of a broker's access control 2.0 may do (3009)."""

from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field

ALLOW: Final = "Allow"


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """One entry of a user's ACL.

    Attributes:
        resource: type and name, such as ``Topic:*``; ``*`` for everything.
        actions: such as ``Get``; ``All`` for each.
        is_allowed: False where the entry denies them.
    """

    resource: str
    actions: tuple[str, ...]
    is_allowed: bool


def decode_acl(body: bytes) -> tuple[AccessEntry, ...]:
    """Read 3009: the entries of all policies; none where the user has no ACL.

    Source: AclInfo.java and AclConverter.java, rocketmq-all-5.3.3.
    """
    if not body:
        return ()
    members = field.as_object(tolerant_json.decode(body), "AclInfo")
    policies = (field.as_object(one, "a policy") for one in field.as_list(members.get("policies"), "policies"))
    entries = (entry for policy in policies for entry in field.as_list(policy.get("entries"), "entries"))
    return tuple(_entry(entry) for entry in entries)


def _entry(value: object) -> AccessEntry:
    members = field.as_object(value, "an entry")
    return AccessEntry(
        resource=field.named(members, "resource", "an entry"),
        actions=field.names(members.get("actions"), "actions"),
        is_allowed=field.named(members, "decision", "an entry") == ALLOW,
    )
