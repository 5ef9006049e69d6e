"""What Airflow's provider discovery asks for. It imports nothing of Airflow, which is still starting."""

from typing import Any, Final

_SECONDS: Final = {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 600}
_FILE: Final = {"type": ["string", "null"]}

CONNECTION_TYPE: Final[dict[str, Any]] = {
    "connection-type": "rocketmq",
    "hook-class-name": "rocketmq_capacity.provider.hook.RocketmqHook",
    "hook-name": "RocketMQ",
    "ui-field-behaviour": {
        "hidden-fields": ["port", "schema", "extra"],
        "relabeling": {"host": "Name servers", "login": "Access key", "password": "Secret key"},
        "placeholders": {
            "host": "10.0.9.1:9876;10.0.9.2:9876",
            "login": "only for brokers with access control",
        },
    },
    "conn-fields": {
        "proxies": {
            "label": "Proxies",
            "description": "Remoting ports of the cluster's Proxies, such as 10.0.8.1:8080;10.0.8.2:8080.",
            "schema": {"type": ["string", "null"]},
        },
        "networks": {
            "label": "Networks",
            "description": "Where servers may be, such as 10.0.0.0/8;fd00::/8; nothing is sent elsewhere.",
            "schema": {"type": ["string", "null"]},
        },
        "tls": {
            "label": "TLS",
            "description": "Speak TLS to name servers and brokers.",
            "schema": {"type": ["boolean", "null"], "default": False},
        },
        "tls_verify": {
            "label": "Check certificates",
            "description": "Refuse a certificate of an unknown authority or of another host. Leave it on.",
            "schema": {"type": ["boolean", "null"], "default": True},
        },
        "tls_ca_file": {
            "label": "Authorities (PEM file)",
            "description": "Absolute path on the worker; empty trusts the system's authorities.",
            "schema": _FILE,
        },
        "tls_cert_file": {
            "label": "Own certificate (PEM file)",
            "description": "Absolute path on the worker, where the cluster asks its clients for one.",
            "schema": _FILE,
        },
        "tls_key_file": {
            "label": "Own key (PEM file)",
            "description": "Absolute path on the worker; empty looks for it in the certificate's file.",
            "schema": _FILE,
        },
        "security_token": {
            "label": "Security token",
            "description": "Beside temporary keys.",
            "schema": {"type": ["string", "null"], "format": "password"},
        },
        "connect_timeout_s": {
            "label": "Seconds to connect",
            "description": "For TCP and TLS together.",
            "schema": {**_SECONDS, "default": 3.0},
        },
        "request_timeout_s": {
            "label": "Seconds to answer",
            "description": "From a request to its answer.",
            "schema": {**_SECONDS, "default": 5.0},
        },
        "in_flight": {
            "label": "Requests at a time",
            "description": "Under way to one broker or name server at a time.",
            "schema": {"type": ["integer", "null"], "minimum": 1, "maximum": 1000, "default": 16},
        },
    },
}
"""The form of a connection; `rocketmq_capacity.client.options.ConnectionOptions` has its values."""


def get_provider_info() -> dict[str, Any]:
    """The provider as Airflow lists it; ``package-name`` must equal the distribution's name."""
    return {
        "package-name": "rocketmq-capacity",
        "name": "RocketMQ Capacity",
        "description": "Daily consumer capacity plans for Apache RocketMQ clusters.",
        "connection-types": [CONNECTION_TYPE],
    }
