"""The rows that the report is made of, as ``DataFrame.toArrow().to_pylist()`` gives them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
"""Dataset name -> its rows, in any order; a dataset that is absent has none."""

Document = dict[str, Any]
"""The plan file as an object; see the contract's section "Plan file"."""

DATASETS: Final = (
    "cluster",
    "failure",
    "group_status",
    "strategy_load",
    "finding",
    "recommendation",
    "client_load",
)
"""The datasets that the report reads; ``client_load`` of the groups that ``detail.detailed_groups`` names is enough."""


def as_mapping(value: Any) -> dict[str, Any] | None:
    """A map column's value as a dict: Arrow gives maps as lists of pairs."""
    if value is None:
        return None
    return dict(value.items()) if isinstance(value, Mapping) else dict(value)


def by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows under their consumer_group."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["consumer_group"], []).append(row)
    return grouped
