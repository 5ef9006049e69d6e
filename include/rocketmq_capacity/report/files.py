"""Names of the files of a report. Dags and plugins know them without the page, and what it is made from."""

from typing import Final

REPORT: Final = "report.html"
PLAN: Final = "plan.json"
FINDINGS: Final = "findings.csv"
RECOMMENDATIONS: Final = "recommendations.csv"
SUMMARY: Final = "summary.json"
CAPACITY: Final = "capacity.json"
