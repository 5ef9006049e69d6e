"""How a notice is sent: by mail, to a chat, or by any notifier of Airflow, as an Airflow connection says.

- Of the type ``smtp``, the connection is the mail server, and ``to`` of its extra the address.
- With ``webhook`` in its extra (slack, feishu, dingtalk, wecom), its password is the address of the chat's robot, and
  ``secret`` of its extra signs what is sent, if the robot asks for that.
- Otherwise its extra names a notifier class of Airflow and its arguments::

    {"notifier": "package.module.Class", "arguments": {"text": "SUBJECT: TEXT, see LINK"}}

  where ``SUBJECT``, ``TEXT`` and ``LINK`` are replaced by those of the notice.
"""

import logging
import re
from collections.abc import Collection, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from airflow.sdk import BaseNotifier, Connection, Context

from rocketmq_capacity.errors import BadInput, CapacityError, cut, one_line, shown
from rocketmq_capacity.provider.connections import connection_of
from rocketmq_capacity.provider.notice_text import Notice
from rocketmq_capacity.provider.webhook import CHATS, WebhookNotifier
from rocketmq_capacity.time_limit import TimeLimit, within

LIMIT_S: Final = 30.0
"""Seconds that one notice may take, however slowly the other side answers."""
LONGEST_REASON: Final = 300
PRINTABLE: Final = re.compile(r"[!-~]+")
WORDS: Final = re.compile("SUBJECT|TEXT|LINK")


def sent(notice: Notice, connection_id: str, context: Context) -> bool:
    """Send the notice. If that fails, the log gets one line without secrets, and the result is False."""
    try:
        connection = connection_of(connection_id)
        if connection is None:
            raise BadInput(f"connection {connection_id}", "", "is missing; expected one that says how to send")
        notifier = notifier_of(connection, notice)
        within(LIMIT_S, partial(_send, notifier, context))
    except Exception as error:
        # A notifier's own errors may quote an address with a token, so of these only the kind is told.
        is_ours = isinstance(error, (CapacityError, TimeLimit))
        why = cut(one_line(error), LONGEST_REASON) if is_ours else f"the notifier failed with {type(error).__name__}"
        logging.getLogger(__name__).error("%s: no notice is sent: %s", connection_id, why)
        return False
    return True


def _send(notifier: BaseNotifier, context: Context) -> None:
    """What Airflow does to call a notifier, except that errors of sending are not caught."""
    notifier.render_template_fields(context)
    notifier.notify(context)


def notifier_of(connection: Connection, notice: Notice) -> BaseNotifier:
    """Airflow's notifier that sends the notice. Errors: BadInput naming the key of the connection's extra."""
    extra = _extra(connection)
    if connection.conn_type == "smtp":
        return _mail(connection.conn_id, extra, notice)
    if "webhook" in extra:
        return _webhook(connection, extra, notice)
    return _notifier(connection.conn_id, extra, notice)


def _extra(connection: Connection) -> Mapping[str, Any]:
    extra = connection.extra_dejson
    if not isinstance(extra, dict):
        raise BadInput(f"connection {connection.conn_id}", "extra", "expected an object")
    return extra


def _mail(connection_id: str, extra: Mapping[str, Any], notice: Notice) -> BaseNotifier:
    from airflow.providers.smtp.notifications.smtp import SmtpNotifier

    if not extra.get("to"):
        raise _refusal(connection_id, "to", "is missing; expected the address to send to")
    return SmtpNotifier(
        to=extra["to"],
        subject=_as_template(notice.subject),
        html_content=_as_template(notice.html),
        smtp_conn_id=connection_id,
    )


def _webhook(connection: Connection, extra: Mapping[str, Any], notice: Notice) -> BaseNotifier:
    name, secret = extra["webhook"], extra.get("secret") or ""
    chat = CHATS.get(name) if isinstance(name, str) else None
    if chat is None:
        raise _refusal(connection.conn_id, "webhook", f"is {shown(name)}; expected one of {', '.join(CHATS)}")
    if not isinstance(secret, str) or (secret and chat.signed is None):
        raise _refusal(connection.conn_id, "secret", f"is not for {name}; expected a text, for feishu or dingtalk")
    address = connection.password or ""
    if not _is_address(address):
        problem = "is no address; expected that of the chat's robot, https://…"
        raise BadInput(f"connection {connection.conn_id}", "password", problem)
    return WebhookNotifier(chat, address, secret, notice)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return (
            bool(PRINTABLE.fullmatch(text))
            and parts.scheme in {"http", "https"}
            and bool(parts.hostname)
            and "@" not in parts.netloc
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False


def _notifier(connection_id: str, extra: Mapping[str, Any], notice: Notice) -> BaseNotifier:
    arguments = extra.get("arguments") or {}
    if not isinstance(arguments, dict):
        problem = f"is a {type(arguments).__name__}; expected an object of arguments by their names"
        raise _refusal(connection_id, "arguments", problem)
    kind = _notifier_class(connection_id, extra.get("notifier"))
    try:
        return kind(**filled_in(arguments, notice, kind.template_fields))
    except TypeError as error:
        problem = f"{error}; expected the arguments of {extra['notifier']}"
        raise _refusal(connection_id, "arguments", problem) from None


def _notifier_class(connection_id: str, path: object) -> type[BaseNotifier]:
    """The class of that dotted name: its module is imported, and nothing in it is called.

    Errors: BadInput for anything except a subclass of BaseNotifier, which would be called without a check.
    """
    module, _, name = str(path or "").rpartition(".")
    problem = f"is {shown(path)}; expected the name of an installed class, a subclass of airflow.sdk.BaseNotifier"
    try:
        notifier: object = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise _refusal(connection_id, "notifier", problem) from None
    if not (isinstance(notifier, type) and issubclass(notifier, BaseNotifier)) or notifier is BaseNotifier:
        raise _refusal(connection_id, "notifier", problem)
    return notifier


def filled_in(arguments: Mapping[str, Any], notice: Notice, templates: Collection[str]) -> dict[str, Any]:
    """The arguments with the notice's words, all in one pass: a word of the notice itself stays as it is.

    Those that Airflow renders as templates (``templates``) get the words so that rendering gives them back.
    """
    values = {"SUBJECT": notice.subject, "TEXT": notice.text, "LINK": notice.link}
    rendered = {word: _as_template(said) for word, said in values.items()}
    return {name: _filled(value, rendered if name in templates else values) for name, value in arguments.items()}


def _filled(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return WORDS.sub(lambda word: values[word[0]], value)
    if isinstance(value, dict):
        return {key: _filled(held, values) for key, held in value.items()}
    if isinstance(value, list):
        return [_filled(held, values) for held in value]
    return value


def _as_template(text: str) -> str:
    """A Jinja template that gives the text: a name of a cluster may hold a template of its own."""
    return text.replace("{", "{{ '{' }}")


def _refusal(connection_id: str, key: str, problem: str) -> BadInput:
    return BadInput(f"connection {connection_id}", f"extra.{key}", problem)
