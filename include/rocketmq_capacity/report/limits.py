"""How much one page holds: a browser opens it and a person reads it whatever the size of the cluster.

The page counts everything that it leaves out. plan.json and the two CSV files have it.
"""

from typing import Final

GROUPS: Final = 500
"""Lines of the table of groups, those with the worst findings first; a line takes about 800 bytes."""
GROUPS_IN_DETAIL: Final = 40
"""Sections of groups: those of which something should be changed, worst first."""
CHARTS: Final = 12
"""Charts of loads: one takes about 70 ms to draw, and the page is to be made in about two seconds."""
FIRST_CAUSES: Final = 12
"""Causes that are called the first, each or as many as fold into one: they fit a screen."""
CAUSES: Final = 80
"""Lines of causes, each of one cause or of several that fold into one."""
FOLDED: Final = 3
"""So many causes of one rule with one answer fold into one line."""
FOLDED_CAUSES: Final = 20
"""Causes inside such a line."""
FOLDED_PLACES: Final = 6
"""Groups or topics that such a line names."""
FINDINGS_A_RULE: Final = 40
"""Findings that a what-if brings, and that it takes away."""
FINDINGS: Final = 20
"""Findings of one cause."""
OPTIONS: Final = 12
"""Recommendations of one cause, each or as many as are alike."""
COMMANDS: Final = 64
"""Commands of one recommendation: a topic on 64 brokers."""
LIST_LINES: Final = 80
"""Lines of the fixed lists of a group's clients: its clients, and the queues of each."""
CAUSES_A_GROUP: Final = 12
"""Causes in one group's section."""
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
APPROVED_LINKS: Final = 12
"""Recommendations that the answer at the top of the page names."""
LINKS: Final = 8
"""Recommendations that another one replaces."""
REASONS: Final = 8
"""Reasons of undecided groups that the summary names."""
LOSSES: Final = 16
"""Brokers and rooms whose loss the page shows, the most harmful first."""
UNEVEN_TOPICS: Final = 12
"""Topics that producers do not spread evenly, the most uneven first."""
NAMED_IN_A_CELL: Final = 3
"""Groups or topics that a cell of such a line names."""
COURSES: Final = 12
"""Groups in the picture of a change that spreads."""
