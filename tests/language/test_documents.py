"""The Chinese documents: the glossary's words are the catalogue's, and the first steps are the program's."""

import re

from rocketmq_capacity.cli import OPTIONS
from rocketmq_capacity.language.catalogue import read_catalogue
from tests.fixtures.environment import ROOT
from tests.language.written import LANGUAGE, translation_of

DOCS = ROOT / "include" / "docs" / "zh-CN"


def test_every_term_of_the_glossary_is_a_word_of_the_page():
    rows = re.findall(r"(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", (DOCS / "glossary.md").read_text("utf-8"))[1:]
    catalogue = "\n".join(map(translation_of, read_catalogue(LANGUAGE)))
    assert len(rows) >= 50
    assert [chinese for _, chinese, _ in rows if chinese not in catalogue] == []


def test_the_first_steps_name_options_and_headings_that_exist():
    page = (DOCS / "first-steps.md").read_text("utf-8")
    commands = re.findall(r"(?m)^rocketmq-capacity (\w+)(.*)$", page)
    assert len(commands) >= 3
    for command, rest in commands:
        assert set(re.findall(r"--[a-z]+", rest)) <= set(OPTIONS[command])
    sections = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \|$", page.partition("## 读报告")[2])[1:]
    assert set(sections) <= {translation_of(message) for message in read_catalogue(LANGUAGE)}
