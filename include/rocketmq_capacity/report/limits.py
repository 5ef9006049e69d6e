"""How much the page shows at most, so that a browser can open it and a person can read it for a cluster of any size.

The page counts what it leaves out. plan.json and the two CSV files have everything.
"""

from typing import Final

GROUPS: Final = 500
"""Lines of the table of groups, those with the worst findings first; a line takes about 800 bytes."""
GROUPS_IN_DETAIL: Final = 40
"""Sections of groups that need a change, worst first."""
CHARTS: Final = 12
"""Charts of loads: one takes about 70 ms to draw, and the page should take about two seconds."""
CAUSES: Final = 80
"""Lines of causes; a line has one cause, or several that are folded."""
LEDGER: Final = 40
"""Earlier recommendations that are not made any more, those that failed first."""
CHANGES: Final = 8
"""Lines of what is new, of what is worse, and of what is gone."""
FOLDED: Final = 3
"""From this number on, causes with the same rule and the same action are folded into one line."""
FOLDED_CAUSES: Final = 20
"""Causes inside a folded line, at most."""
ALL_FOLDED_CAUSES: Final = 320
"""Causes inside all folded lines, which have equal numbers of them then; a cause takes about 8 kB."""
FOLDED_PLACES: Final = 6
"""Groups or topics that a folded line names."""
FINDINGS_A_RULE: Final = 40
"""Findings that a what-if adds, and findings that it clears."""
FINDINGS: Final = 20
"""Findings of one cause."""
OPTIONS: Final = 12
"""Options of one cause; an option is one recommendation, or several that are alike."""
COMMANDS: Final = 64
"""Commands of one recommendation: enough for a topic on 64 brokers."""
CAUSES_A_GROUP: Final = 12
"""Causes in one group's section."""
ITEMS: Final = 20
"""Entries of a list inside a finding: client ids, queues."""
TABLE_ROWS: Final = 40
"""Rows of a table inside a finding or a recommendation, and members of an object inside one."""
HEAT_CLIENTS: Final = 40
HEAT_QUEUES: Final = 96
"""The most clients and queues of a group whose picture shows each queue with its owner."""
BARS_BUSIEST: Final = 8
BARS_IDLEST: Final = 4
"""Bars of a chart: the busiest and the least busy clients; one more bar is the average of the others."""
OVERVIEW_GROUPS: Final = 15
SCENARIO_ROWS: Final = 200
SCENARIO_BARS: Final = 8
"""Groups in a what-if's picture, the busiest first."""
SCENARIO_CHANGES: Final = 100
FAILURES: Final = 100
APPROVED_LINKS: Final = 12
"""Recommendations that the answer at the top of the page names, of those that were answered alike."""
ANSWERS: Final = 12
"""Lines of that answer: one for each reason."""
LINKS: Final = 8
"""Alternatives that a recommendation names."""
REASONS: Final = 8
"""Reasons that the summary gives for undecided groups."""
SAVINGS: Final = 40
"""Groups that can have fewer clients, those that save most first."""
LOSSES: Final = 16
"""Brokers and rooms whose loss the page shows, the most harmful first."""
DISKS: Final = 12
"""Disks that fill in the picture, those that are full first."""
UNEVEN_TOPICS: Final = 12
"""Topics that producers do not spread evenly, the most uneven first."""
BROADCAST_GROUPS: Final = 10
"""Broadcasting groups of which a what-if tells what its changes mean to them."""
NAMED_IN_A_CELL: Final = 3
"""Groups or topics that a cell of the table of losses names."""
OWNERS: Final = 100
"""Owners of groups, those with the worst causes first."""
OWNER_CAUSES: Final = 20
"""Causes of one owner."""
ACCEPTED: Final = 100
"""Accepted findings, the worst first."""
COURSES: Final = 12
"""Groups in the picture of a change that spreads."""
