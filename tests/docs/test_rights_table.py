"""The how-to has a row for each request that is sent; what it says is compared with real brokers in tests/cluster."""

from rocketmq_capacity.protocol.codes import RequestCode
from tests.docs.rights_table import ROWS


def test_each_request_that_is_sent_has_its_row_and_no_other_has_one() -> None:
    assert [(row.code, row.name) for row in ROWS] == [(code.value, code.name) for code in RequestCode]


def test_every_cell_is_one_of_the_known_answers() -> None:
    of_2 = {"`Get` on the topic", "`Get` on the group", "`Get` on the cluster", "`Get` on the topic, at Proxies"}
    assert {row.acl_2 for row in ROWS} == of_2 | {"any user", "not checked", "not known"}
    of_1 = {"`SUB` of the group", "administrator, from 5.3.0 on"}
    assert {row.acl_1 for row in ROWS} == of_1 | {"any account", "not checked", "not known"}
