"""The data dictionary against the contracts that it is made from."""

import re
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql.pandas.types import from_arrow_type

from rocketmq_capacity.tables import DATASETS
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.checks import model
from rocketmq_capacity.tables.dataset import Dataset, Int
from rocketmq_capacity.tables.dictionary import FILE

COMMITTED: Final = Path(__file__).parents[2] / "include/docs" / FILE
SPARK_NAMES: Final = {
    "METRICS": "map<string,double>",
    "queue": "struct<topic:string,broker_name:string,queue_id:int>",
}
"""What Spark calls the two types that the page has words for."""
A_WORD: Final = re.compile(r"[a-z]+")
A_TYPE: Final = re.compile(r"\w+")

datasets = pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: dataset.dataset_name())


def facts(dataset: type[Dataset]) -> dict[str, str]:
    """What the docstring's labelled lines say."""
    return dict(re.findall(r"(?m)^ *(Grain|Key|Units): (.+)\.$", dataset.__doc__ or ""))


@datasets
def test_the_dictionary_shows_every_column_with_type_and_null(dataset: type[Dataset]) -> None:
    page = COMMITTED.read_text(encoding="utf-8")
    section = page.split(f"\n### {dataset.dataset_name()}\n")[1].partition("\n### ")[0]
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in section.splitlines() if "| `" in line
    ]
    assert [row[0].strip("`") for row in rows] == arrow_schema(dataset).names
    assert [row[2] == "may be" for row in rows] == [field.nullable for field in arrow_schema(dataset)]
    assert [A_TYPE.sub(spark_name, row[1].strip("`")) for row in rows] == [
        from_arrow_type(field.type).simpleString() for field in arrow_schema(dataset)
    ]


@datasets
def test_the_dictionary_says_what_the_checks_allow(dataset: type[Dataset]) -> None:
    page = COMMITTED.read_text(encoding="utf-8")
    section = page.split(f"\n### {dataset.dataset_name()}\n")[1].partition("\n### ")[0]
    for name, column in model(dataset).columns.items():
        row = next(line for line in section.splitlines() if line.startswith(f"| `{name}` "))
        words = [str(word) for check in column.checks for word in check.statistics.get("allowed_values", ())]
        assert not words or f"| {', '.join(words)} |" in row


def spark_name(word: re.Match[str]) -> str:
    return SPARK_NAMES.get(word[0], word[0])


@datasets
def test_every_column_has_a_meaning_beyond_its_name(dataset: type[Dataset]) -> None:
    for column in dataset.columns():
        assert column.description, column.name
        assert len(A_WORD.findall(column.description.lower())) > 1, column.name
        assert column.description != column.name.replace("_", " ")


@datasets
def test_every_dataset_says_its_grain_and_its_key(dataset: type[Dataset]) -> None:
    told = facts(dataset)
    assert told["Grain"].startswith("one row")
    assert dataset.KEY or told["Key"].startswith("none")
    assert set(dataset.KEY) <= set(arrow_schema(dataset).names)


@datasets
def test_every_dataset_with_quantities_says_their_units(dataset: type[Dataset]) -> None:
    names = {column.name for column in dataset.columns() if column.type in (int, Int, float)}
    if names - {"consumer_index"}:
        assert facts(dataset)["Units"]
