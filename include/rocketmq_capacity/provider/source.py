"""Where a run's snapshot comes from, as its form tells: name servers, an inventory file, or the recorded sample."""

from collections.abc import Mapping
from typing import Any, Final

from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowFailException

from rocketmq_capacity.lake import Lake
from rocketmq_capacity.provider.places import Places
from rocketmq_capacity.provider.run_key import DagRunLike, run_key
from rocketmq_capacity.run_lookup import stored_run

# JSON schema searches for a pattern and Python's $ also stands before a last line feed: this is the end itself.
_END: Final = r"(?![\s\S])"
_HOST: Final = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])"
_SERVER: Final = _HOST + r":[0-9]{1,5}"
NAME_SERVERS: Final = rf"^{_SERVER}(?:;{_SERVER}){{0,15}}{_END}"
INVENTORY_NAME: Final = rf"^[A-Za-z0-9_][A-Za-z0-9_.-]{{0,120}}\.json{_END}"


def source_params() -> dict[str, Param]:
    """The form's fields; both may stay empty, and neither can name a program, nor a file outside of one folder."""
    return {
        "nameserver": Param(
            None,
            type=["null", "string"],
            pattern=NAME_SERVERS,
            title="Name servers",
            description="A live cluster to take the snapshot of: HOST:PORT, several parted by a semicolon.",
        ),
        "inventory": Param(
            None,
            type=["null", "string"],
            pattern=INVENTORY_NAME,
            title="Inventory file",
            description="The name of a recorded inventory in the deployment's inventory folder, such as monday.json. "
            "With both fields empty the deployment's own cluster is planned, else the recorded sample.",
        ),
    }


def source_argument(params: Mapping[str, Any], dag_run: DagRunLike, places: Places) -> str:
    """The one argument of the snapshot app that says where the snapshot comes from.

    A run that is cleared has its snapshot stored and needs the file no more.

    Errors: AirflowFailException where both fields are filled or the named file is not there; a retry would not help.
    """
    nameserver, inventory = params.get("nameserver"), params.get("inventory")
    if nameserver and inventory:
        raise AirflowFailException("fill in either the name servers or the inventory file, not both")
    if inventory:
        file = places.inventories / inventory
        if not file.is_file() and stored_run(Lake(places.lake), run_key(dag_run)) is None:
            raise AirflowFailException(f"no file {inventory} in the inventory folder {places.inventories}")
        return f"--inventory={file}"
    if nameserver or places.nameserver:
        return f"--nameserver={nameserver or places.nameserver}"
    return f"--inventory={places.sample}"
