"""A real cluster that lets nobody in who does not prove himself: TLS both ways, and access keys."""

import json
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.client.certificates import Authority, authority
from tests.cluster.rocketmq import Broker, Cluster
from tests.oracle.started import Started

READER: Final = "reader"
WITH_PRODUCERS: Final = "reader-of-producers"
WRITER: Final = "writer"
STRANGER: Final = "stranger"
MASTER: Final = "administrator"
USERS: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    READER: (["GET"], ["Topic:*", "Group:*"]),
    WITH_PRODUCERS: (["GET"], ["Topic:*", "Group:*", "Cluster:*"]),
    WRITER: (["GET", "PUB", "UPDATE"], ["Topic:*", "Group:*", "Cluster:*"]),
    STRANGER: ([], []),
}
"""What each user may do, and to what. The how-to names the rights of the first two for a snapshot."""
_AUTH: Final = "org.apache.rocketmq.auth"


def access_control(secret_key: str, name: str = READER) -> dict[str, str]:
    """Broker properties: one user is let in, who may do everything, and whom brokers are among one another."""
    return {
        "authenticationEnabled": "true",
        "authenticationProvider": f"{_AUTH}.authentication.provider.DefaultAuthenticationProvider",
        "authenticationMetadataProvider": f"{_AUTH}.authentication.provider.LocalAuthenticationMetadataProvider",
        "initAuthenticationUser": json.dumps({"username": name, "password": secret_key}),
        "innerClientAuthenticationCredentials": json.dumps({"accessKey": name, "secretKey": secret_key}),
    }


_AUTHORIZATION: Final = {
    "authorizationEnabled": "true",
    "authorizationProvider": f"{_AUTH}.authorization.provider.DefaultAuthorizationProvider",
    "authorizationMetadataProvider": f"{_AUTH}.authorization.provider.LocalAuthorizationMetadataProvider",
}


@dataclass
class GuardedCluster(Started):
    """A name server and two brokers with a topic and a group; a context manager.

    Attributes: ``secret_key`` of all USERS, random; ``master_key`` of MASTER, who may do everything; ``ours``, the
    authority of all certificates; ``folder``, where certificates stand, and connection files may.
    """

    secret_key: str = field(default_factory=lambda: secrets.token_hex(16))
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="guarded-")))

    def __post_init__(self) -> None:
        """Make the certificates; nothing runs before ``start``."""
        self.ours: Authority = authority(self.folder, "authority")
        self.server, self.client = self.ours.party("server"), self.ours.party("client")
        self.master_key = secrets.token_hex(16)
        guard = access_control(self.master_key, MASTER) | _AUTHORIZATION
        self.cluster = Cluster(
            [Broker("broker-a", config=guard), Broker("broker-b", config=guard)], cluster_name="C1", jvm=self._options()
        )

    def _start(self) -> None:
        self.cluster.start()
        self.cluster.create_topic("pay", {"broker-a": 4, "broker-b": 2})
        self.cluster.create_group("g_pay")
        for name, (actions, resources) in USERS.items():
            self.cluster.create_user(name, self.secret_key, actions, resources)

    def close(self) -> None:
        """End it and delete every file."""
        self.cluster.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def nameserver(self) -> str:
        """The name server, host:port."""
        return self.cluster.nameserver

    def options(self, **changed: Any) -> dict[str, Any]:
        """The options that let us in, some of them changed; None leaves one out."""
        right = {
            "access_key": READER,
            "secret_key": self.secret_key,
            "tls": True,
            "tls_ca_file": str(self.ours.certificate),
            "tls_cert_file": str(self.client.certificate),
            "tls_key_file": str(self.client.key),
        }
        return {key: value for key, value in {**right, **changed}.items() if value is not None}

    def connection_file(self, folder: Path, **changed: Any) -> Path:
        """These options as a file that only we may read."""
        file = folder / "connection.yaml"
        file.touch(0o600)
        file.write_text(yaml.safe_dump(self.options(**changed)), "utf-8")
        return file

    def _options(self) -> list[str]:
        keys = self.folder / "admin.properties"
        keys.touch(0o600)
        keys.write_text(f"access={MASTER}\nsecret={self.master_key}\n", "utf-8")
        properties = {
            "capacity.keys": keys,
            "tls.test.mode.enable": "false",
            "tls.server.mode": "enforcing",
            "tls.server.certPath": self.server.certificate,
            "tls.server.keyPath": self.server.key,
            "tls.server.need.client.auth": "require",
            "tls.server.authClient": "true",
            "tls.server.trustCertPath": self.ours.certificate,
            # Brokers to their name server, and the tests' own admin client.
            "tls.enable": "true",
            "tls.client.authServer": "true",
            "tls.client.trustCertPath": self.ours.certificate,
            "tls.client.certPath": self.server.certificate,
            "tls.client.keyPath": self.server.key,
        }
        return [f"-D{name}={value}" for name, value in properties.items()]
