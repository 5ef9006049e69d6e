"""What an account may do, as a broker's answers tell it; real brokers are asked in tests/cluster."""

import asyncio
import json
from typing import Any

import pytest

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.rights import Rights, rights_at
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.command import Command
from tests.client.speaking_peer import SpeakingPeer, Visit

ACL_2 = "authenticationEnabled=true\nauthorizationEnabled=true\n"
DENIED = (16, "User:reader has no permission to access Cluster:C1")
DENIED_BY_1 = (1, "org.apache.rocketmq.acl.common.AclException: Need admin permission for request code=52")
ASKS_LESS = {26, 52, 3009}
"""All that is sent; no request with which something could be changed, or a password read."""


def acl(*entries: tuple[str, str, str]) -> tuple[int, str]:
    """The answer to 3009, of (resource, actions, decision)."""
    told = [{"resource": one, "actions": actions.split(), "decision": decision} for one, actions, decision in entries]
    return 0, json.dumps({"subject": "User:reader", "policies": [{"policyType": "Custom", "entries": told}]})


def found(config: str | tuple[int, str], version: str | None = "V5_3_3", **answers: tuple[int, str]) -> Rights:
    """What is found at a broker that says so; ``answers`` by the code with a letter before it."""
    says: dict[int, Any] = {26: (0, config) if isinstance(config, str) else config}
    says |= {int(code[1:]): answer for code, answer in answers.items()}

    async def broker(visit: Visit, asked: Command) -> None:
        code, words = says[asked.code]
        visit.answer(asked, b"" if code else words.encode(), code=code, remark=words if code else None)

    async def run() -> Rights:
        async with SpeakingPeer(broker) as peer:
            asking = Peer(peer.address, ConnectionSettings(request_timeout_s=60))
            try:
                return await rights_at(asking, "reader", version)
            finally:
                await asking.close()
                assert {asked.code for asked in peer.requests} <= ASKS_LESS

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([("Topic:*", "Get", "Allow"), ("Group:*", "Get", "Allow"), ("Cluster:*", "Get", "Allow")], ""),
        ([("Cluster:C1", "Get", "Allow"), ("Topic:*", "Pub", "Deny")], ""),
        ([("Cluster:*", "Get", "Allow"), ("Topic:pay*", "Pub Get", "Allow")], "Pub on Topic:pay*"),
        ([("Cluster:*", "Get List", "Allow")], "List on Cluster:*"),
        ([("*", "All", "Allow")], "All on *"),
    ],
)
def test_a_user_who_may_read_the_cluster_is_known_to_the_last_right(
    entries: list[tuple[str, str, str]], words: str
) -> None:
    rights = found(ACL_2, a3009=acl(*entries))
    assert rights.words == (
        f"more than a snapshot needs: {words}"
        if words
        else "what a snapshot with producers needs; Get on the cluster also reads the passwords of all users"
    )
    assert bool(rights.mend) == bool(words)


@pytest.mark.parametrize("answer", [(0, ""), acl(("Topic:*", "Get", "Allow"))], ids=["no ACL", "no right to ask"])
def test_who_may_ask_without_the_right_to_is_a_super_user(answer: tuple[int, str]) -> None:
    rights = found(ACL_2, a3009=answer)
    assert rights.words == "every right: it is a super user"
    assert rights.mend.startswith("use a Normal user")


def test_of_another_user_it_says_what_it_cannot_tell() -> None:
    rights = found(ACL_2, a3009=DENIED)
    assert "what else it may do cannot be asked without that right (mqadmin getAcl -s User:reader" in rights.words
    assert rights.mend == ""


@pytest.mark.parametrize(
    ("version", "answer", "words", "is_too_much"),
    [
        ("V5_3_2", (0, ""), "every right: it is an administrator", True),
        ("V5_3_0", DENIED_BY_1, "no administrator; which topics", False),
        ("V5_2_0", (0, ""), "cannot be asked before 5.3.0", False),
        ("V4_9_8", (0, ""), "cannot be asked before 5.3.0", False),
        (None, (0, ""), "cannot be asked before 5.3.0", False),
        ("V5_3_3", (0, ""), "every right: from 5.3.3 on, aclEnable has no effect", True),
        ("V5_3_1", (1, "java.lang.NullPointerException"), "unknown: answered code 1", False),
    ],
)
def test_of_access_control_1_only_an_administrator_is_seen(
    version: str | None, answer: tuple[int, str], words: str, is_too_much: bool
) -> None:
    rights = found("aclEnable=true\n", version, a52=answer)
    assert rights.words.startswith(words)
    assert bool(rights.mend) == is_too_much


def test_keys_without_rights_are_every_right() -> None:
    rights = found("authenticationEnabled=true\nauthorizationEnabled=false\n")
    assert rights.mend == "set authorizationEnabled=true in the brokers"


def test_a_broker_that_is_open_asks_for_nothing_to_be_mended() -> None:
    rights = found("brokerPermission=6\n")
    assert rights == Rights("every right: the broker has no access control, and lets anyone in")


@pytest.mark.parametrize(
    ("config", "answer"),
    [
        ((16, "denied"), (0, "")),
        (ACL_2, (0, "[")),
        (ACL_2, (0, '{"policies":{"entries":1}}')),
        (ACL_2, (0, '{"policies":[{"entries":[{"resource":5}]}]}')),
        (ACL_2, (1, "java.lang.NullPointerException")),
    ],
)
def test_an_answer_that_says_nothing_is_unknown(config: str | tuple[int, str], answer: tuple[int, str]) -> None:
    rights = found(config, a3009=answer)
    assert rights.words.startswith("unknown: ")
    assert rights.mend == ""
