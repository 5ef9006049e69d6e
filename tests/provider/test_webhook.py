"""What a chat is posted: its own form, escaped, short enough, within a time, and no secret in what is said of it."""

import base64
import hashlib
import hmac
import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from airflow.sdk import Connection, Context

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.provider import channels
from rocketmq_capacity.provider.channels import notifier_of, sent
from rocketmq_capacity.provider.notice_text import Notice, NoticeLine, notice
from rocketmq_capacity.provider.webhook import CHATS, MOST_BYTES, body_of
from tests.fixtures.chat_server import TAKEN, ChatServer, chat_server

pytestmark = pytest.mark.airflow

PAGE = "https://airflow.example.org/rocketmq-capacity/reports/plans/C1/r1/"
TOLD = notice(
    "RocketMQ capacity of C1 for payments: 1 new",
    NoticeLine("New: Critical: More queues", f"{PAGE}#cause-1", ". 4 of 12 own none."),
    NoticeLine("2 more new in the report"),
    link=PAGE,
)
HOSTILE = notice(
    "<!channel> <@all> **x** [y](http://evil) `z`", NoticeLine("<at user_id='all'>", f"{PAGE}#c", "a & b"), link=PAGE
)
TOKEN = "2f9c1b7e-aaaa-4444-bbbb-0123456789ab"
SIGNS_WITH = "SEC0123456789abcdef"


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.ERROR, channels.__name__)
    return caplog


def connect(patch: pytest.MonkeyPatch, chat: ChatServer, name: str, **extra: Any) -> None:
    """The connection ``pay_chat``, whose robot listens at the server."""
    chat.answer = chat.answer or TAKEN[name]
    address = f"{chat.address}/robot/{TOKEN}"
    told = {"conn_type": "generic", "password": address, "extra": {"webhook": name, **extra}}
    patch.setenv("AIRFLOW_CONN_PAY_CHAT", json.dumps(told))


def send(told: Notice = TOLD) -> bool:
    context: Any = {}
    return sent(told, "pay_chat", context)


def test_slack_gets_text_with_its_three_characters_escaped(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, chat, "slack")

    assert send()
    assert send(HOSTILE)

    (path, posted), (_, hostile) = chat.posts
    assert path == f"/robot/{TOKEN}"
    assert posted == {
        "text": "RocketMQ capacity of C1 for payments: 1 new\n"
        f"<{PAGE}#cause-1|New: Critical: More queues>. 4 of 12 own none.\n"
        "2 more new in the report\n"
        f"<{PAGE}|{PAGE}>"
    }
    assert "&lt;!channel&gt; &lt;@all&gt;" in hostile["text"]
    assert "a &amp; b" in hostile["text"]


def test_feishu_gets_a_post_of_texts_and_links(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, chat, "feishu")

    assert send()

    posted = chat.posts[0][1]
    assert posted["msg_type"] == "post"
    assert posted["content"]["post"]["zh_cn"] == {
        "title": "RocketMQ capacity of C1 for payments: 1 new",
        "content": [
            [
                {"tag": "a", "text": "New: Critical: More queues", "href": f"{PAGE}#cause-1"},
                {"tag": "text", "text": ". 4 of 12 own none."},
            ],
            [{"tag": "text", "text": "2 more new in the report"}],
            [{"tag": "a", "text": PAGE, "href": PAGE}],
        ],
    }
    assert "sign" not in posted


@pytest.mark.parametrize(("name", "member"), [("dingtalk", "text"), ("wecom", "content")])
def test_dingtalk_and_wecom_get_markdown_without_mark_up_of_a_name(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, name: str, member: str
) -> None:
    connect(monkeypatch, chat, name)

    assert send()
    assert send(HOSTILE)

    posted, hostile = chat.posts[0][1], chat.posts[1][1]
    assert posted["msgtype"] == "markdown"
    lines = [line for line in posted["markdown"][member].split("\n") if line]
    assert lines[1] == f"[New: Critical: More queues]({PAGE}#cause-1). 4 of 12 own none."
    text = hostile["markdown"][member]
    assert "<" not in text
    assert "*" not in text
    assert "`" not in text
    assert "(http://evil)" in text
    assert "[y]" not in text


def test_feishu_is_signed_beside_the_message(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, chat, "feishu", secret=SIGNS_WITH)

    assert send()

    posted = chat.posts[0][1]
    key = f"{posted['timestamp']}\n{SIGNS_WITH}".encode()
    assert base64.b64decode(posted["sign"]) == hmac.new(key, b"", hashlib.sha256).digest()


def test_dingtalk_is_signed_in_its_address(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, chat, "dingtalk", secret=SIGNS_WITH)

    assert send()

    query = parse_qs(urlsplit(chat.posts[0][0]).query)
    said = f"{query['timestamp'][0]}\n{SIGNS_WITH}".encode()
    assert len(query["timestamp"][0]) == 13
    assert base64.b64decode(query["sign"][0]) == hmac.new(SIGNS_WITH.encode(), said, hashlib.sha256).digest()


@pytest.mark.parametrize("name", CHATS)
@pytest.mark.parametrize("character", ["x", "锁", '"', "😀", "\u202e", "{", "<"])
def test_a_message_is_never_longer_than_the_least_limit(name: str, character: str) -> None:
    long = character * 5_000
    told = notice(long, *(NoticeLine(long, f"{PAGE}#{number}", long) for number in range(9)), link=PAGE)

    body = json.dumps(body_of(CHATS[name], told), ensure_ascii=False).encode()

    assert 200 < len(body) <= MOST_BYTES
    assert "more lines in the report" in body.decode()


def test_what_fits_is_not_cut() -> None:
    lines = tuple(NoticeLine(f"New: Warning: cause {number}", f"{PAGE}#{number}", ". Why.") for number in range(9))

    assert "more lines in the report" not in json.dumps(body_of(CHATS["wecom"], notice("subject", *lines, link=PAGE)))


@pytest.mark.parametrize(
    ("name", "answer", "said_of_it"),
    [
        ("slack", b"no_service", "answers no_service"),
        ("feishu", b'{"code":19024,"msg":"Key Words Not Found"}', "answers code 19024: Key Words Not Found"),
        ("dingtalk", b'{"errcode":310000,"errmsg":"sign not match"}', "answers errcode 310000: sign not match"),
        ("wecom", b'{"errcode":93000,"errmsg":"invalid\\u001b[2J webhook"}', "answers errcode 93000: invalid"),
        ("wecom", b"<html>", "answers without errcode"),
        ("wecom", b'{"errcode":false}', "answers errcode False"),
        ("wecom", b"[" * 60_000, "answers without errcode"),
    ],
)
def test_a_chat_that_does_not_take_the_message_is_one_line(
    chat: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    said: pytest.LogCaptureFixture,
    name: str,
    answer: bytes,
    said_of_it: str,
) -> None:
    chat.answer = answer
    connect(monkeypatch, chat, name)

    assert not send()

    (line,) = said.messages
    assert line.startswith(f"pay_chat: no notice is sent: {said_of_it}")
    assert line.isprintable()


def test_no_line_shows_a_part_of_the_address_though_the_chat_sends_it_back(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, said: pytest.LogCaptureFixture
) -> None:
    chat.answer = json.dumps({"errcode": 1, "errmsg": f"no robot {TOKEN} with {SIGNS_WITH}"}).encode()
    connect(monkeypatch, chat, "dingtalk", secret=SIGNS_WITH)

    assert not send()

    assert said.messages == ["pay_chat: no notice is sent: answers errcode 1: no robot *** with ***"]


@pytest.mark.parametrize("status", [302, 307, 404, 500])
def test_a_status_that_is_an_error_is_one_line_and_no_redirect_is_followed(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, said: pytest.LogCaptureFixture, status: int
) -> None:
    chat.status, chat.headers = status, {"Location": f"{chat.address}/elsewhere"}
    connect(monkeypatch, chat, "slack")

    assert not send()

    assert said.messages == [f"pay_chat: no notice is sent: answers with the status {status}"]
    assert len(chat.posts) == 1


def test_a_chat_that_trickles_is_given_up(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, said: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(channels, "LIMIT_S", 0.5)
    chat.trickles = True
    connect(monkeypatch, chat, "slack")

    assert not send()

    assert said.messages == ["pay_chat: no notice is sent: no answer within 0.5 s"]


def test_a_chat_that_is_not_there_is_one_line(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, said: pytest.LogCaptureFixture
) -> None:
    chat.address = "http://127.0.0.1:1"
    connect(monkeypatch, chat, "slack")

    assert not send()

    assert said.messages[0].startswith("pay_chat: no notice is sent: not reached: ")
    assert TOKEN not in said.text


def test_a_connection_that_is_missing_is_one_line(said: pytest.LogCaptureFixture) -> None:
    assert not sent(TOLD, "no_such_chat", Context())

    expected = "connection no_such_chat: is missing; expected one that says how to send"
    assert said.messages == [f"no_such_chat: no notice is sent: {expected}"]


@pytest.mark.parametrize(
    ("password", "extra", "place"),
    [
        ("https://x/y", {"webhook": "teams"}, "extra.webhook"),
        ("https://x/y", {"webhook": ["slack"]}, "extra.webhook"),
        ("https://x/y", {"webhook": "slack", "secret": "s"}, "extra.secret"),
        (None, {"webhook": "slack"}, "password"),
        ("hunter2-hunter2", {"webhook": "slack"}, "password"),
        ("file:///etc/passwd", {"webhook": "slack"}, "password"),
        ("https://x/y z", {"webhook": "slack"}, "password"),
        ("https://user:hunter2-hunter2@x/y", {"webhook": "slack"}, "password"),
        ("https://x:99999/y", {"webhook": "slack"}, "password"),
        ("https://[/y", {"webhook": "slack"}, "password"),
    ],
)
def test_a_connection_that_says_no_chat_is_refused_with_the_place(
    password: str | None, extra: dict[str, Any], place: str
) -> None:
    connection = Connection(conn_id="pay_chat", conn_type="generic", password=password, extra=json.dumps(extra))

    with pytest.raises(BadInput, match=f"connection pay_chat: {place}: ") as refused:
        notifier_of(connection, TOLD)
    assert "hunter2" not in str(refused.value)
