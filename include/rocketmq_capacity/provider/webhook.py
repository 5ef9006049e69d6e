"""Sends a notice to a chat by the address that its robot listens on: Slack, Feishu, DingTalk and WeCom.

Sources:

- Slack, "Sending messages using incoming webhooks" and "Formatting text" (https://api.slack.com/docs/formatting):
  ``{"text": ...}``; ``&``, ``<`` and ``>`` are written as HTML entities; a link is ``<address|words>``; the answer is
  ``ok``. Text is cut after 40,000 characters.
- Feishu (https://open.larkoffice.com/document/ukTMukTMukTM/ucTM5YjL3ETO24yNxkjN.md): ``msg_type`` is ``post``, with
  lines of parts that are texts (``tag`` is ``text``) or links (``a``); a request has at most 20 KB; ``code`` of the
  answer is 0. With a secret, ``timestamp`` (s) and ``sign`` stand beside the message.
- DingTalk (https://open.dingtalk.com/document/group/custom-robot-access): ``msgtype`` is ``markdown``, with ``title``
  and ``text``; ``errcode`` of the answer is 0. With a secret, ``timestamp`` (ms) and ``sign`` are added to the address.
- WeCom (https://work.weixin.qq.com/api/doc/90000/90136/91770): ``msgtype`` is ``markdown``, with ``content`` of at most
  4,096 bytes of UTF-8; ``errcode`` of the answer is 0. ``<@id>`` in it would call somebody.
"""

import hmac
import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from typing import Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import parse_qsl, quote_plus, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from airflow.sdk import BaseNotifier, Context

from rocketmq_capacity.errors import CapacityError, cut, printable
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.provider.notice_text import Notice, NoticeLine

MOST_BYTES: Final = 4_096
"""Of a message: the smallest limit of the four, so that each of them takes it."""
LONGEST_WORDS: Final = 200
LONGEST_MORE: Final = 300
"""Characters of a line before and after its link."""
LONGEST_ANSWER: Final = 64 << 10
"""Bytes of an answer that are read."""
LONGEST_REASON: Final = 200
ANSWER_S: Final = 10.0
"""Seconds between two parts of an answer; whoever sends the notice limits all of them together."""
SECRET_PART: Final = 8
"""Characters of a part of an address that may be a token: no error shows it."""
LOOKALIKES: Final = str.maketrans("<>[]*`#", "＜＞［］＊｀＃")
"""What Markdown would take for mark-up or for somebody to call: DingTalk and WeCom document no way to escape it."""


class NotSent(CapacityError):
    """A chat has not taken a notice."""


class Post(NamedTuple):
    """A request: its address and its body."""

    address: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chat:
    """How a chat is written to.

    Attributes:
        body: of a notice.
        signed: the request with the signature that a secret gives, at a moment (s since 1970); None if it has none.
        refusal: what the answer's text says if the message was not taken; empty if it was.
    """

    body: Callable[[Notice], dict[str, Any]]
    signed: Callable[[Post, str, float], Post] | None
    refusal: Callable[[str], str]


def _slack(notice: Notice) -> dict[str, Any]:
    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def link(words: str, address: str) -> str:
        return f"<{escaped(address)}|{escaped(words).replace('|', '¦')}>"

    return {"text": _written(notice, escaped, link)}


def _feishu(notice: Notice) -> dict[str, Any]:
    lines = [list(_feishu_parts(line)) for line in (*notice.lines, _to_the_whole(notice))]
    return {"msg_type": "post", "content": {"post": {"zh_cn": {"title": notice.subject, "content": lines}}}}


def _feishu_parts(line: NoticeLine) -> Iterator[dict[str, str]]:
    if line.link:
        yield {"tag": "a", "text": line.words, "href": line.link}
    if not line.link or line.more:
        yield {"tag": "text", "text": line.more if line.link else f"{line.words}{line.more}"}


def _dingtalk(notice: Notice) -> dict[str, Any]:
    # One line end alone does not begin a new line.
    text = _markdown(notice).replace("\n", "\n\n")
    return {"msgtype": "markdown", "markdown": {"title": notice.subject, "text": text}}


def _wecom(notice: Notice) -> dict[str, Any]:
    return {"msgtype": "markdown", "markdown": {"content": _markdown(notice)}}


def _markdown(notice: Notice) -> str:
    def escaped(text: str) -> str:
        return text.translate(LOOKALIKES)

    return _written(notice, escaped, lambda words, address: f"[{escaped(words)}]({address})")


def _written(notice: Notice, escaped: Callable[[str], str], link: Callable[[str, str], str]) -> str:
    lines = (
        f"{link(one.words, one.link) if one.link else escaped(one.words)}{escaped(one.more)}"
        for one in (*notice.lines, _to_the_whole(notice))
    )
    return "\n".join([escaped(notice.subject), *lines])


def _to_the_whole(notice: Notice) -> NoticeLine:
    return NoticeLine(notice.link, notice.link)


def _signed_in_body(post: Post, secret: str, now: float) -> Post:
    """Feishu: the moment and the secret are the key, and nothing is signed with it."""
    moment = str(int(now))
    sign = b64encode(hmac.digest(f"{moment}\n{secret}".encode(), b"", sha256)).decode()
    return Post(post.address, {"timestamp": moment, "sign": sign, **post.body})


def _signed_in_address(post: Post, secret: str, now: float) -> Post:
    """DingTalk: the secret is the key, and the moment with the secret is signed."""
    moment = str(int(now * 1_000))
    sign = b64encode(hmac.digest(secret.encode(), f"{moment}\n{secret}".encode(), sha256)).decode()
    joined = "&" if urlsplit(post.address).query else "?"
    return Post(f"{post.address}{joined}timestamp={moment}&sign={quote_plus(sign)}", post.body)


def _refusal_of(code: str, words: str) -> Callable[[str], str]:
    """Of an answer in JSON, whose member ``code`` is 0 if the message was taken."""

    def refusal(answer: str) -> str:
        try:
            document = json.loads(answer)
            number = document[code]
        except (ValueError, KeyError, TypeError, RecursionError):
            return f"answers without {code}"
        return (
            ""
            if number == 0 and not isinstance(number, bool)
            else f"answers {code} {number}: {document.get(words, '')}"
        )

    return refusal


CHATS: Final[Mapping[str, Chat]] = {
    "slack": Chat(_slack, None, lambda answer: "" if answer.strip() == "ok" else f"answers {answer}"),
    "feishu": Chat(_feishu, _signed_in_body, _refusal_of("code", "msg")),
    "dingtalk": Chat(_dingtalk, _signed_in_address, _refusal_of("errcode", "errmsg")),
    "wecom": Chat(_wecom, None, _refusal_of("errcode", "errmsg")),
}
"""By the name in a connection's extra."""


def body_of(chat: Chat, notice: Notice) -> dict[str, Any]:
    """The message with as many of the lines as fit; the last says how many are left out."""
    short = tuple(
        NoticeLine(cut(one.words, LONGEST_WORDS), one.link, cut(one.more, LONGEST_MORE)) for one in notice.lines
    )
    body = chat.body(Notice(cut(notice.subject, LONGEST_WORDS), short, notice.link))
    shown = len(short)
    while len(_bytes_of(body)) > MOST_BYTES and shown:
        shown -= 1
        left_out = NoticeLine(phrase("… {number} more lines in the report", number=len(short) - shown))
        body = chat.body(Notice(cut(notice.subject, LONGEST_WORDS), (*short[:shown], left_out), notice.link))
    return body


def _bytes_of(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")


class WebhookNotifier(BaseNotifier):
    """Posts a notice to a chat.

    Args:
        chat: how it is written to.
        address: where its robot listens: a secret.
        secret: of its signature; empty if it has none.
        notice: what is told.
    """

    def __init__(self, chat: Chat, address: str, secret: str, notice: Notice) -> None:
        super().__init__()
        self._chat, self._address, self._secret, self._notice = chat, address, secret, notice

    def notify(self, _context: Context) -> None:
        """Post it. Errors: NotSent, which shows no part of the address that may be a secret."""
        post = Post(self._address, body_of(self._chat, self._notice))
        if self._secret and self._chat.signed is not None:
            post = self._chat.signed(post, self._secret, time.time())
        refusal = self._chat.refusal(self._answer_to(post))
        if refusal:
            raise NotSent(self._without_secrets(refusal))

    def _answer_to(self, post: Post) -> str:
        headers = {"Content-Type": "application/json; charset=utf-8"}
        request = Request(post.address, _bytes_of(post.body), headers, method="POST")  # noqa: S310  # checked before
        try:
            with build_opener(_NoRedirect).open(request, timeout=ANSWER_S) as response:
                answer: bytes = response.read(LONGEST_ANSWER)
        except HTTPError as error:
            with error:
                raise NotSent(f"answers with the status {error.code}") from None
        except (OSError, HTTPException) as error:  # URLError is an OSError
            raise NotSent(self._without_secrets(f"not reached: {str(error) or type(error).__name__}")) from None
        return answer.decode("utf-8", "replace")

    def _without_secrets(self, text: str) -> str:
        """One line without any part of the address that may be a token: a server may send back what it was sent."""
        parts = urlsplit(self._address)
        tokens = [*parts.path.split("/"), *(value for _, value in parse_qsl(parts.query)), parts.query, self._secret]
        for token in sorted((one for one in tokens if len(one) >= SECRET_PART), key=len, reverse=True):
            text = text.replace(token, "***")
        return cut(printable(" ".join(text.split())), LONGEST_REASON)


class _NoRedirect(HTTPRedirectHandler):
    """A robot's address leads nowhere else: the notice would go to whoever the answer names."""

    def redirect_request(self, *_: Any) -> None:
        """None: the answer is an error."""
        return
