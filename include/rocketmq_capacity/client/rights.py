"""What the account of a connection may do at a broker, as far as requests tell that change nothing.

The account that a snapshot needs is in the how-to "Connect with TLS and access keys", request by request. Whatever
cannot be asked without the risk of a change is not asked, and said to be unknown. AUTH_GET_USER (3004) is left out as
well: its answer has the user's password.

Source: DefaultAuthorizationContextBuilder, AclAuthorizationHandler and UserAuthorizationHandler, rocketmq-all-5.3.3;
Permission, PlainPermissionChecker and AdminBrokerProcessor, rocketmq-all-5.3.2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.access import AccessEntry
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.protocol.version import Version, numbers_of

NEEDED: Final = "Get"
ALL: Final = "All"
ANYTHING: Final = "*"
CLUSTER: Final = "Cluster"
WITHOUT_ACL_1: Final = (5, 3, 3)
"""The first version that knows ACL 1.0 no more."""
ADMINS_ALONE: Final = (5, 3, 0)
"""The first version in which request 52, which only reads, is for administrators alone (Permission.ADMIN_CODE)."""
UNKNOWN: Final = (0, 0, 0)
"""An unknown version counts as an old one."""
_ASK_FOR_LESS: Final = "give the account no more than the rights in the how-to on TLS and access keys"


@dataclass(frozen=True, slots=True)
class Rights:
    """What was found out.

    Attributes:
        words: for people, in one line.
        mend: how to take away what is too much; empty if nothing was found to be.
    """

    words: str
    mend: str = ""


async def rights_at(peer: Peer, access_key: str, version: str | None) -> Rights:
    """Ask one broker what the user may do.

    Args:
        peer: the broker, asked with the user's keys.
        access_key: the user's name.
        version: of the broker, as it says it.
    """
    try:
        config = await peer.call(request.broker_config())
    except (TransportError, ProtocolError) as error:
        return Rights(f"unknown: the broker does not tell its access control ({error})")
    if _is_on(config, "authenticationEnabled"):
        if not _is_on(config, "authorizationEnabled"):
            words = "every right: the broker checks keys, and not what they may do"
            return Rights(words, "set authorizationEnabled=true in the brokers")
        return await _of_acl_2(peer, access_key)
    if _is_on(config, "aclEnable"):
        return await _of_acl_1(peer, numbers_of(version) or UNKNOWN)
    return Rights("every right: the broker has no access control, and lets anyone in")


async def _of_acl_2(peer: Peer, access_key: str) -> Rights:
    """By the user's own ACL, which a user without Get on the cluster may not read."""
    try:
        entries = await peer.call(request.acl_of(access_key))
    except ResponseError as error:
        if not error.is_refusal:
            return Rights(f"unknown: {error}")
        words = "no super user, and no right on the cluster; what else it may do cannot be asked without that right"
        return Rights(f"{words} (mqadmin getAcl -s User:{access_key} tells it)")
    except (TransportError, ProtocolError) as error:
        return Rights(f"unknown: {error}")
    allowed = [entry for entry in entries if entry.is_allowed]
    if not any(_is_about(entry, CLUSTER) and {NEEDED, ALL} & {*entry.actions} for entry in allowed):
        # It was let through without a right to ask.
        return Rights("every right: it is a super user", "use a Normal user; " + _ASK_FOR_LESS)
    if more := more_than_needed(allowed):
        return Rights(f"more than a snapshot needs: {', '.join(more)}", _ASK_FOR_LESS)
    return Rights("what a snapshot with producers needs; Get on the cluster also reads the passwords of all users")


async def _of_acl_1(peer: Peer, version: Version) -> Rights:
    """By a request that only administrators may send."""
    if version >= WITHOUT_ACL_1:
        words = "every right: from 5.3.3 on, aclEnable has no effect, and the broker lets anyone in"
        return Rights(words, "set authenticationEnabled=true and authorizationEnabled=true in the brokers")
    if version < ADMINS_ALONE:
        return Rights("cannot be asked before 5.3.0; in plain_acl.yml, the account should have admin: false")
    try:
        await peer.call(request.acl_version())
    except ResponseError as error:
        if error.is_refusal:
            return Rights("no administrator; which topics it may read or write cannot be asked (see plain_acl.yml)")
        return Rights(f"unknown: {error}")
    except (TransportError, ProtocolError) as error:
        return Rights(f"unknown: {error}")
    words = "every right: it is an administrator, or the broker trusts this machine's address and checks nothing"
    return Rights(words, "set admin: false for the account, and take the address out of the white lists")


def more_than_needed(entries: Iterable[AccessEntry]) -> list[str]:
    """The actions beyond Get that entries allow, with their resource, such as ``Pub on Topic:*``."""
    return [f"{action} on {entry.resource}" for entry in entries for action in entry.actions if action != NEEDED]


def _is_about(entry: AccessEntry, kind: str) -> bool:
    return entry.resource == ANYTHING or entry.resource.partition(":")[0] == kind


def _is_on(config: Mapping[str, str], key: str) -> bool:
    return config.get(key) == "true"
