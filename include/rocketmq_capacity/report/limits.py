"""How much one page holds: a browser opens it and a person reads it whatever the size of the cluster.

Everything that is left out is counted on the page, and stands in plan.json and the two CSV files.
"""

from typing import Final

GROUPS: Final = 2_000
"""Lines of the table of groups: where there are more, those with the worst findings; a line takes about 600 bytes."""
GROUPS_IN_DETAIL: Final = 40
"""Sections of groups: the flagged ones first, worst first."""
CHARTS: Final = 12
"""Charts of loads: one takes about 70 ms to draw, and the page is to be made in about two seconds."""
FINDINGS_A_RULE: Final = 40
FINDINGS_A_GROUP: Final = 40
"""Findings in one group's section."""
RECOMMENDATIONS: Final = 80
COMMANDS: Final = 64
"""Commands of one recommendation: a topic on 64 brokers."""
CHANGES: Final = 6
"""Recommendations whose before and after stand in one group's section."""
ITEMS: Final = 20
"""Entries of a list inside a finding: client ids, queues."""
TABLE_ROWS: Final = 40
"""Rows of a table inside a finding or a recommendation, and members of an object inside one."""
BARS_BUSIEST: Final = 8
BARS_IDLEST: Final = 4
"""Bars of a chart: the busiest and the least busy clients, those between them as one average."""
OVERVIEW_GROUPS: Final = 15
SCENARIO_ROWS: Final = 200
SCENARIO_CHANGES: Final = 100
FAILURES: Final = 100
FIRST_STEPS: Final = 6
APPROVED_LINKS: Final = 12
"""Recommendations that the answer at the top of the page names."""
LINKS: Final = 3
"""Recommendations named in one of the first steps."""
ANSWERS: Final = 20
"""Recommendations that a finding names, and alternatives that a recommendation names."""
REASONS: Final = 8
"""Reasons of undecided groups that the summary names."""
