"""The Chinese documents: their words are the catalogue's, and their commands are those of the English ones."""

import re

import pytest

from rocketmq_capacity.cli import OPTIONS
from rocketmq_capacity.language.catalogue import read_catalogue
from tests.docs.pages import PAGES, blocks
from tests.fixtures.environment import ROOT
from tests.language.written import LANGUAGE, translation_of

DOCS = ROOT / "include" / "docs" / "zh-CN"
NAMES = {"Capacity", "Approve", "Reject"}
"""What Airflow's buttons and navigation are called in every language."""


@pytest.fixture(scope="module")
def translations():
    return {translation_of(message) for message in read_catalogue(LANGUAGE)}


def commands(chinese):
    """The lines of shell blocks without their comments."""
    found = [block for block in blocks("sh", "shell") if (block.page.parent == DOCS) == chinese]
    return {line.partition(" #")[0].strip() for block in found for line in block.body.splitlines()}


def test_every_term_of_the_glossary_is_a_word_of_the_page(translations):
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", (DOCS / "glossary.md").read_text("utf-8"))[1:]
    catalogue = "\n".join(translations)
    assert len(rows) >= 50
    assert [chinese for _, chinese, _ in rows if chinese not in catalogue] == []


def test_the_commands_are_those_of_the_english_documents():
    told = {line.replace(" --language zh-CN", "") for line in commands(chinese=True)}
    assert len(told) >= 8
    assert told <= commands(chinese=False)


def test_the_options_exist():
    every = [line for line in commands(chinese=True) if line.startswith("rocketmq-capacity ")]
    assert len(every) >= 5
    for line in every:
        command, rest = line.split(" ", 2)[1:]
        assert set(re.findall(r"--[a-z]+", rest)) <= set(OPTIONS[command])


@pytest.mark.parametrize("name", ["read-a-report.md", "reports-in-airflow.md"])
def test_what_a_page_of_the_documents_names_is_called_so_on_the_screen(name, translations):
    page = (DOCS / name).read_text("utf-8")
    sections = re.findall(r"(?m)^\| ([^|`]+) \| [^|]+ \|$", page)
    heads = {"部分", "标记", "页面", "文件"}
    shown = {*re.findall(r"\*\*([^*]+)\*\*", page), *re.findall(r"“([^”]+)”", page), *sections} - heads - NAMES
    assert len(shown) > 5
    assert shown - translations - OF_AIRFLOW == set()


OF_AIRFLOW = {"待响应的任务实例"}
"""Airflow's own words for its Required Actions."""


def test_the_chinese_documents_are_read_by_the_tests_of_all_documents():
    assert set(DOCS.glob("*.md")) <= set(PAGES)
