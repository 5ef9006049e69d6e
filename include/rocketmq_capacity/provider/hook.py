"""Airflow's connections of type ``rocketmq``: their content, and whether they lead to a cluster."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from airflow.sdk import BaseHook

from rocketmq_capacity.client.options import ConnectionOptions, options_of, settings_of
from rocketmq_capacity.client.reach import reach
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import BadInput, CapacityError, shown
from rocketmq_capacity.protocol.each_once import RepeatedMemberError, each_once
from rocketmq_capacity.provider.connections import needed_connection
from rocketmq_capacity.settings.address import parse_nameservers

_FILES: Final = ("tls_ca_file", "tls_cert_file", "tls_key_file")
_LISTS: Final = ("proxies", "networks")
"""The form has each as one text, with ``;`` between the entries."""
_FIELDS: Final = {"access_key": "login", "secret_key": "password"}
"""Fields of the form whose names differ from those of the options."""
_SWITCHES: Final[dict[str, bool]] = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ClusterConnection:
    """A connection as it was read.

    Attributes:
        nameservers: ``host:port``, several separated by ``;``.
        options: everything else; printing it shows no secret.
        source: the connection's name in errors.
    """

    nameservers: str
    options: ConnectionOptions
    source: str

    def settings(self) -> ConnectionSettings:
        """The settings of the client. Errors: BadInput for a file that is missing or has an error."""
        return settings_of(self.options, self.source, Path("/"))


class RocketmqHook(BaseHook):
    """Reads a connection of type ``rocketmq``.

    Args:
        rocketmq_conn_id: the connection's id.
    """

    conn_name_attr: ClassVar[str] = "rocketmq_conn_id"
    default_conn_name: ClassVar[str] = "rocketmq_default"
    conn_type: ClassVar[str] = "rocketmq"
    hook_name: ClassVar[str] = "RocketMQ"

    def __init__(self, rocketmq_conn_id: str = default_conn_name, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rocketmq_conn_id = rocketmq_conn_id

    def get_conn(self) -> ClusterConnection:
        """The connection, checked without asking the cluster.

        Errors: BadInput naming the connection, its field and what was expected, never a value that may be secret;
        ConnectionMissing if Airflow gives none: it says the same of one that it cannot read or reach.
        """
        source = f"connection {self.rocketmq_conn_id}"
        connection = needed_connection(self.rocketmq_conn_id, self.conn_type)
        if connection.conn_type != self.conn_type:
            raise BadInput(source, "conn_type", f"is {shown(connection.conn_type)}; expected {self.conn_type!r}")
        try:
            addresses = parse_nameservers([_nameservers(connection.host, connection.port)])
        except BadInput as error:
            raise BadInput(source, "host", error.problem) from None
        said = {"access_key": connection.login, "secret_key": connection.password, **_extra(connection, source)}
        given = {key: _read(key, value) for key, value in said.items() if value not in (None, "")}
        try:
            options = options_of(given, source)
        except BadInput as error:
            raise BadInput(source, _FIELDS.get(error.place, error.place), error.problem) from None
        for key in _FILES:
            if not Path(getattr(options, key) or "/").is_absolute():
                raise BadInput(source, key, "is not an absolute path; expected one on the worker")
        return ClusterConnection(";".join(map(str, addresses)), options, source)

    def test_connection(self) -> tuple[bool, str]:
        """Whether a snapshot would find a cluster, and who answered; for Airflow's form and API."""
        try:
            connection = self.get_conn()
            reached = asyncio.run(reach([connection.nameservers], connection.settings()))
        except CapacityError as error:
            return False, str(error)
        return reached.is_enough, reached.summary()


def _nameservers(host: str | None, port: int | None) -> str:
    """The host as in the form; a connection given as a URI has the port of a single name server separately."""
    host = host or ""
    return f"{host}:{port}" if host and port else host


def _extra(connection: Any, source: str) -> Mapping[str, Any]:
    """The other fields of the form; Airflow accepts any text for them."""
    if not connection.extra:
        return {}
    try:
        is_object = isinstance(json.loads(connection.extra, object_pairs_hook=each_once), dict)
    except RepeatedMemberError as error:
        raise BadInput(source, "extra", str(error)) from None
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise BadInput(source, "extra", "is not a JSON object; expected one with the fields of the form")
    # This way of access makes Airflow mask what looks like a secret in the task's log from now on.
    extra: dict[str, Any] = connection.extra_dejson
    return extra


def _read(key: str, value: Any) -> Any:
    """A value of its field's type: a connection given as a URI has only texts."""
    field = ConnectionOptions.model_fields.get(key)
    if field is None or not isinstance(value, str):
        return value
    if key in _LISTS:
        return [text.strip() for text in value.split(";") if text.strip()]
    if field.annotation is bool:
        return _SWITCHES.get(value.lower(), value)
    if field.annotation in (float, int):
        with contextlib.suppress(ValueError):  # what is no number is refused later, with its key
            return field.annotation(value)
    return value
