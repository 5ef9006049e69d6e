"""The page data-dictionary.md, from the datasets."""

import inspect
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Final, Literal, get_args, get_origin

from rocketmq_capacity.tables import DATASETS, SNAPSHOT
from rocketmq_capacity.tables.dataset import Column, Dataset, Int, Metrics, Queue
from rocketmq_capacity.tables.sample import SAMPLES

FILE: Final = "data-dictionary.md"

INTRODUCTION: Final = """\
# Data dictionary

<!-- Made by `make docs` from include/rocketmq_capacity/tables; change it there. -->

The tables that the steps of a plan exchange: parquet files under `tables/<dataset>/` of a run in the lake, and under
`DIR/tables/<dataset>/` of `rocketmq-capacity plan --out DIR`. Columns are in this order. Names are RocketMQ's own, in
snake_case, with the unit in the name if there is one. Times as text are UTC ISO-8601. Unknown is null, never 0 and
never -1.

Several tables use these two types:

- **queue**, a struct of `topic`, `broker_name` and `queue_id`.
- **METRICS**, a map from a metric's name to its value, of one load over all distinct client ids of a group: `peak`,
  `floor`, `excess`, `gini` and `cv` without a unit, `max`, `min` and `mean` in the load's own (queues, messages a
  second, messages). Null where it is not defined: under two clients, no load at all, or a part of it unknown. Where
  clients share queues, as under POP, `floor` and `excess` are missing. The plan file rounds the first five to 4
  decimals; the tables do not.
"""

TYPES: Final[tuple[tuple[Any, str], ...]] = (
    (str, "string"),
    (int, "bigint"),
    (Int, "int"),
    (float, "double"),
    (bool, "boolean"),
    (dict[str, str], "map<string,string>"),
    (dict[str, float], "map<string,double>"),
    (Metrics, "METRICS"),
    (Queue, "queue"),
)
"""The type of a value in Python, and how the page names it."""

PARTS: Final = (
    (
        "The snapshot",
        "Written by the step `snapshot`: the cluster's answers, one table a kind of thing. The last two have\n"
        "everything about a group, or a topic, in one row.",
        SNAPSHOT,
    ),
    (
        "What is computed from it",
        "Written by the steps `allocate`, `assess` and `recommend`. Only a what-if has the last three: its\n"
        "step `compare`, before `publish`, writes them.",
        tuple(dataset for dataset in DATASETS if dataset not in SNAPSHOT),
    ),
    (
        "Samples between plans",
        "Written by the app `sample`: in the lake, in the folder `<cluster>/.samples/<day>/tables/<dataset>/`, days in UTC.",
        SAMPLES,
    ),
)


def dictionary() -> str:
    """The whole page, as Markdown; equal datasets give equal text."""
    return "\n".join([INTRODUCTION, *_contents(), *(line for part in PARTS for line in _part(*part))])


def type_name(kind: Any) -> str:
    """A column's type as the page names it: Spark's name, except for the two types that several tables use."""
    if get_origin(kind) is tuple:
        return f"array<{type_name(get_args(kind)[0])}>"
    if get_origin(kind) is Literal:
        return "string"
    if isinstance(kind, UnionType):  # an item that may be unknown
        return type_name(get_args(kind)[0])
    return next(name for python, name in TYPES if python == kind)


def _contents() -> Iterator[str]:
    for title, _, datasets in PARTS:
        names = (dataset.dataset_name() for dataset in datasets)
        yield f"- {title}: {', '.join(f'[{name}](#{name})' for name in names)}"
    yield ""


def _part(title: str, meaning: str, datasets: Iterable[type[Dataset]]) -> Iterator[str]:
    yield from (f"## {title}", "", meaning, "")
    for dataset in datasets:
        yield from _section(dataset)


def _section(dataset: type[Dataset]) -> Iterator[str]:
    yield from (f"### {dataset.dataset_name()}", "", *_meaning(dataset), "")
    yield from ("| column | type | null | values | meaning |", "|---|---|---|---|---|")
    for column in dataset.columns():
        null = "may be" if column.is_nullable else "never"
        meaning = column.description.replace("|", r"\|")
        yield f"| `{column.name}` | {_code(type_name(column.type))} | {null} | {_values(column)} | {meaning} |"
    yield ""


def _values(column: Column) -> str:
    """What is allowed of a column's type; empty if all of it is."""
    if column.words:
        return ", ".join(column.words)
    if column.least is None:
        return ""
    is_share = column.most == 1
    return "0 to 1" if is_share else f"at least {column.least:g}"


def _meaning(dataset: type[Dataset]) -> Iterator[str]:
    """The dataset's docstring, its facts (grain, key, units) as a list; the key comes after the grain."""
    for line in inspect.cleandoc(dataset.__doc__ or "").replace("``", "`").splitlines():
        fact, colon, rest = line.partition(": ")
        yield f"- {fact}: {rest}" if colon and fact in {"Grain", "Key", "Units"} else line
        if fact == "Grain" and dataset.KEY:
            yield f"- Key: {', '.join(dataset.KEY)}."


def _code(name: str) -> str:
    """A type in code form; the page's own two are words."""
    return name if name in {"METRICS", "queue"} else f"`{name}`"
