"""The lake of a deployment: a folder, or a URL that may name the Airflow connection which opens its store.

``s3://bucket/prefix`` is opened by the store's own variables in the environment, ``s3://my_conn@bucket/prefix`` by the
Airflow connection *my_conn*, of the type ``aws``. Airflow's own provider reads the connection, with its roles and its
endpoint. No Dag file asks for it: only tasks and pages do, when they open the lake.
"""

from collections.abc import Mapping
from functools import lru_cache
from time import time
from typing import Any, Final, NamedTuple

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.provider.connections import connection_of
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import place_of

WITH_CONNECTIONS: Final = ("s3",)
"""The schemes whose URL may name a connection."""
ACCOUNT: Final = "abfs"
"""The scheme in whose URLs an account may follow an @."""
KEPT_S: Final = 60
"""For which an answer of Airflow is used again: a page of reports opens the lake some times."""


class LakeAddress(NamedTuple):
    """Where a lake is.

    Attributes:
        place: the folder or the URL, without a connection: what a Spark app is given.
        connection: the id of Airflow's connection; empty if there is none.
    """

    place: str
    connection: str


def address_of(where: str) -> LakeAddress:
    """The parts of a lake's address. Errors: BadInput for a connection in the URL of a store that takes none."""
    scheme, is_url, rest = where.partition("://")
    connection, has_one, bucket = rest.partition("/")[0].rpartition("@")
    if not is_url or not has_one or scheme == ACCOUNT:
        return LakeAddress(where, "")
    if scheme not in WITH_CONNECTIONS or not connection:
        allowed = " or ".join(f"{name}://CONNECTION@bucket/prefix" for name in WITH_CONNECTIONS)
        raise BadInput("the lake", "", f"is {shown(where)}; expected {allowed}, or a URL without a connection")
    return LakeAddress(f"{scheme}://{bucket}{rest[len(connection) + 1 + len(bucket) :]}", connection)


def lake_of(where: str) -> Lake:
    """The lake at an address, without asking its store.

    Errors: BadInput for a URL of another kind, and for a connection that Airflow does not have; StoreUnreachable if the
    store's package is not installed.
    """
    address = address_of(where)
    return Lake(place_of(address.place, variables_of(where)) if address.connection else place_of(address.place))


def variables_of(where: str) -> Mapping[str, str]:
    """The store's own variables that open a lake, from the connection in its address; none if it names none.

    Errors: as `lake_of`.
    """
    connection = address_of(where).connection
    return _variables(connection, int(time() // KEPT_S)) if connection else {}


@lru_cache(maxsize=8)
def _variables(connection: str, _moment: int) -> Mapping[str, str]:
    if connection_of(connection) is None:  # the hook below takes whatever it finds if there is no connection
        problem = f"names the connection {connection}, which Airflow does not have; expected one of the type aws"
        raise BadInput("the lake", "", problem)
    try:
        from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
    except ImportError as error:
        problem = f"names the connection {connection}, but the package {error.name} is not installed"
        raise BadInput("the lake", "", f"{problem}; expected pip install apache-airflow-providers-amazon") from None
    hook: Any = AwsGenericHook(aws_conn_id=connection, client_type="s3")
    credentials = hook.get_session(region_name=hook.region_name).get_credentials()
    if credentials is None:
        problem = f"names the connection {connection}, which has no credentials; expected keys, a profile or a role"
        raise BadInput("the lake", "", problem)
    keys = credentials.get_frozen_credentials()
    variables = {
        "AWS_ACCESS_KEY_ID": keys.access_key,
        "AWS_SECRET_ACCESS_KEY": keys.secret_key,
        "AWS_SESSION_TOKEN": keys.token,
        "AWS_ENDPOINT_URL": hook.conn_config.get_service_endpoint_url("s3"),
        "AWS_REGION": hook.region_name,
    }
    return {name: value for name, value in variables.items() if value}
