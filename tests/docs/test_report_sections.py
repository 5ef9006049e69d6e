"""read-a-report.md explains every section of the page by its name."""

from pathlib import Path

import pytest

from rocketmq_capacity.settings.policy import Policy
from tests.docs import report_sections
from tests.docs.report_sections import unexplained
from tests.report.from_rows import page_of
from tests.report.made_scenario import a_scenario
from tests.report.varied_cluster import varied_rows

IDLE = next(one for one in varied_rows(24)["finding"] if one["rule"] == "IDLE_CONSUMERS" and one["consumer_group"])
RULE, GROUP = IDLE["rule"], IDLE["consumer_group"]
TELLING = Policy.model_validate({
    "groups": [{"match": "^g_", "owner": "payments"}],
    "accepted": [{"rule": RULE, "consumer_group": GROUP, "by": "li", "why": "a rollout", "until": "2030-01-01"}],
})


@pytest.mark.parametrize("scenario", [None, a_scenario()], ids=["plan", "what-if"])
def test_every_section_is_explained_by_its_name(scenario: object) -> None:
    page = page_of(varied_rows(24), policy=TELLING, scenario=scenario)

    for name in ("accepted", "owners", "groups", "first"):
        assert f'<h2 id="{name}">' in page
    assert unexplained(page) == []


def test_a_section_that_the_document_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = report_sections.EXPLAINS.read_text(encoding="utf-8")
    shorter = tmp_path / "read-a-report.md"
    shorter.write_text(text.replace("### Glossary", "### Words"))
    monkeypatch.setattr(report_sections, "EXPLAINS", shorter)

    assert unexplained(page_of(varied_rows(24))) == ["Glossary"]
