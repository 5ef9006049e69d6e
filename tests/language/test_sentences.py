"""English sentences of a plan, said in Chinese: as a whole, with their figures, or not at all."""

import json
import time
from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.language.catalogue import words_of
from rocketmq_capacity.language.current import gettext, ngettext, speaking, translated, words
from rocketmq_capacity.language.of_plan import with_sentences
from rocketmq_capacity.language.sentences import Sentences, filled
from rocketmq_capacity.plan_file.plan import decoded_plan
from rocketmq_capacity.plan_file.sentence import Sentence
from tests.plan.sample_bytes import FILE as SAMPLE_PLAN

SAID = ("title", "message", "reason", "way_back", "shows", "expect", "status_reason")
"""Members of a plan that have sentences."""


def said(text: str) -> str | None:
    return words_of("zh-CN").sentences.said(text)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (
            "4 of 12 clients own no queue; the group's largest topic has 8 readable queues.",
            "12 个客户端中有 4 个没有分到队列；该消费组最大的 Topic 有 8 个可读队列。",
        ),
        (
            "1 of 2 clients owns no queue; the group's largest topic has 1 readable queue.",
            "2 个客户端中有 1 个没有分到队列；该消费组最大的 Topic 有 1 个可读队列。",
        ),
        ("Nobody reads 2 of 6 queues: broker-a:0, broker-a:1.", "6 个队列中有 2 个无人读取：broker-a:0、broker-a:1。"),
        (
            "Let every client run AVG instead of CONFIG: idle clients go from 16 to 0, EXCESS by queues goes from 1.33 "
            "to 1.00.",
            "让每个客户端使用 AVG（之前为 CONFIG）：空闲客户端从 16 变为 0，按队列计的 EXCESS 从 1.33 变为 1.00。",
        ),
        (
            "More queues would not help: 17 queues on each broker would make it worse for g-1; 9 queues on each broker"
            " would make it worse for g-2.",
            "增加队列没有帮助：每个 Broker 17 个队列会使 g-1 变差；每个 Broker 9 个队列会使 g-2 变差。",
        ),
        ("a@1, its only client, is busy for 96.3 % of its time.", "唯一的客户端 a@1，繁忙度为 96.3 %。"),
        (
            "a@1, the busiest of 9 clients, is busy for 96.3 % of its time.",
            "9 个客户端中最忙的 a@1，繁忙度为 96.3 %。",
        ),
        (
            "The busiest client exceeds 70 % at the peak in 2 groups: g_a (3 % → 89.2 %), g_b (72 %), only by these"
            " changes g_a.",
            "峰值时最忙的客户端超过 70 % 的有 2 个消费组：g_a (3 % → 89.2 %)、g_b (72 %)，"
            "其中因这些变更而新增的为 g_a。",
        ),
        (
            "the busiest client is busy for 75.0 % of its time at the peak, above 70.0 %; before it was 25.0 %;"
            " 4 more queues have no reader; 2,010 messages would wait that are not read",
            "峰值时最忙的客户端繁忙度为 75.0 %，超过 70.0 %；之前为 25.0 %；又有 4 个队列无人读取；"
            "2,010 条消息将等待而无人读取",
        ),
        (
            "a@1, the busiest of 9 clients, is busy for 96.3 % of its time; the median client would be busy for 9.6 %"
            " with the same messages.",
            "9 个客户端中最忙的 a@1，繁忙度为 96.3 %；处理同样的消息时，处于中位数的客户端繁忙度为 9.6 %。",
        ),
        ("it is gone with the subscription to pay, and not mended", "它随对 pay 的订阅一起消失，并没有解决"),
        ("it is gone with topic orders, and not mended", "它随 Topic orders 一起消失，并没有解决"),
        (
            "a@1, the busiest of 2 clients, is busy for 150.0 % of its time, and its owner wants at least 4 clients"
            " instead of 2.",
            "2 个客户端中最忙的 a@1，繁忙度为 150.0 %，而负责人要求至少 4 个客户端（现在为 2 个）。",
        ),
        (
            "They pop from a master alone. UNDECIDED: the slave does not report enableSlaveActingMaster. If it is set,"
            " they are served after 36 s at most if its process ends, and 164 s if its machine is gone.",
            "只能从 Master 以 POP 方式读取。无法判断：Slave 没有报告 enableSlaveActingMaster。如果已设置，"
            "若进程退出，最多 36 秒后恢复服务；若机器宕机，则为 164 秒。",
        ),
        (
            "Nothing may be changed until 2027-01-03T00:00:00Z (the year's end; ask li): commands that may change the"
            " cluster are comments.",
            "在 2027-01-03T00:00:00Z 之前禁止变更（the year's end; ask li）：可能变更集群的命令均为注释。",
        ),
        (
            "2 accepted risks of the policy do not hold: IDLE_CONSUMERS of g_a is not found; CROSS_ROOM of g_b was"
            " accepted until 2026-12-01.",
            "策略中有 2 项已接受的风险不成立：没有找到 g_a 的 IDLE_CONSUMERS；g_b 的 CROSS_ROOM 只接受到 2026-12-01。",
        ),
        ("2 queues without reader", "2 个队列无人读取"),
        ("2,000 messages behind", "堆积 2,000 条消息"),
        ("AVG (as its clients report it)", "AVG（由客户端上报）"),
        ("Give pay more queues", "给 pay 增加队列"),
        ("Look into orders", "排查 orders"),
        ("It has no clients, and had 16 clients 24 h ago.", "该消费组现在没有客户端，24 小时前有 16 个客户端。"),
        (
            "The offset of broker-a:1 has not moved for 45 s; the last message read is 6 h old.",
            "broker-a:1 的消费位点已有 45 秒没有推进；最后读取的消息已是 6 小时之前的。",
        ),
        (
            "16.6 % of the queues whose rooms are known are read from another machine room: hz reads from sh (2 queues,"
            " 0.03 MB a second); sh reads from hz (3 queues, 0.02 MB a second).",
            "在机房已知的队列中，16.6 % 由其他机房读取：hz 从 sh 读取（2 个队列，0.03 MB/s）；"
            "sh 从 hz 读取（3 个队列，0.02 MB/s）。",
        ),
        (
            "Look into orders: topics that are written and that nobody reads",
            "排查 orders：有写入但无人读取的 Topic",
        ),
        (
            "Without broker-a: 1 topic could not be written: pay; 1 topic could not be read: pay. The other brokers"
            " would take its 39.9 % of the messages.",
            "失去 broker-a 之后：1 个 Topic 将无法写入：pay；1 个 Topic 将无法读取：pay。"
            "其他 Broker 将承担它 39.9 % 的消息。",
        ),
        (
            "Look into g_pay: consumers that own only drained, read-only queues, ship_events",
            "排查 g_pay：只分到已排空的只读队列的消费者，ship_events",
        ),
        ("20 November 2026, 02:00:00 UTC", "2026 年 11 月 20 日 02:00:00 UTC"),
        ("4.5 to 8.25", "4.5 至 8.25"),
        ("a.b, c.d and 4 more", "a.b、c.d 等（另有 4 个）"),
        (
            "Its clients run different strategies: AVG, POP. Now nobody reads 2 queues, and 1 queue is read twice.",
            "其客户端使用不同的策略：AVG、POP。目前 2 个队列无人读取，1 个队列被重复读取。",
        ),
    ],
)
def test_a_sentence_keeps_its_names_and_figures(english: str, chinese: str) -> None:
    assert said(english) == chinese


@pytest.mark.parametrize(
    "english",
    [
        "Nobody has ever said this of 8 queues.",
        "4 of 12 clients own no queue; the group's largest topic has a cold.",
        "Nobody reads 2 of 6 queues: broker-a:0. The owner is on holiday.",
        "x" * 5_000,
    ],
)
def test_a_sentence_that_is_not_known_as_a_whole_stays_english_and_says_so(english: str) -> None:
    assert said(english) is None
    with speaking("zh-CN"):
        assert words(english) == english


def test_what_stays_english_is_marked_and_escaped() -> None:
    with speaking("zh-CN"):
        assert translated("a <b> of words") == '<span lang="en">a &lt;b&gt; of words</span>'
        assert translated("pay_orders, g-pay") == "pay_orders、g-pay"
        assert translated("pay_orders") == "pay_orders"
    assert translated("a <b> of words") == "a <b> of words"


@pytest.mark.parametrize("name", ["none", "unknown", "today", "others"])
def test_a_word_that_may_be_a_name_makes_no_sentence(name: str) -> None:
    sentences = Sentences(
        {"The group {group} has lost {n_clients} for ever": "{group} 失去了{n_clients}"}, {"client": "个客户端"}
    )
    assert sentences.said(f"The group {name} has lost 1 client for ever") is None
    assert sentences.said("The group pay has lost 1 client for ever") == "pay 失去了 1 个客户端"


def test_a_number_with_its_noun_is_nothing_else() -> None:
    sentences = Sentences({"{n_queues} without reader": "{n_queues}无人读取"}, {"queue": "个队列", "queues": "个队列"})
    assert sentences.said("3 queues without reader") == "3 个队列无人读取"
    assert sentences.said("3 queues of pay without reader") is None


def test_the_longest_template_wins_and_a_value_may_hold_commas() -> None:
    sentences = Sentences(
        {"seen at {at}": "于 {at} 所见", "seen at {at}, {times} times the rate": "于 {at} 所见，为速率的 {times} 倍"},
        {},
    )
    moment = "20 November 2026, 02:00:00 UTC"
    assert sentences.said(f"seen at {moment}, 1.5 times the rate") == (
        "于 2026 年 11 月 20 日 02:00:00 UTC 所见，为速率的 1.5 倍"
    )


def test_values_of_a_template_are_escaped_and_thousands_separated() -> None:
    with speaking("zh-CN"):
        assert gettext("Approved by %(by)s", by="<li>\u202e") == "由 &lt;li&gt;[U+202E] 批准"
        assert ngettext("%(count)s more cause in plan.json", "%(count)s more causes in plan.json", 1, count=1) == (
            "plan.json 中还有 1 个根因"
        )
    assert ngettext("%(count)s more cause in plan.json", "%(count)s more causes in plan.json", 1_000, count=1_000) == (
        "1,000 more causes in plan.json"
    )


@pytest.mark.parametrize(
    "part",
    [
        "Nobody reads 2 of 6 queues: a, b and c; ",
        "1 to 2 of x and ",
        "x y: ",
        "a b: c, d and e; f › g · h (i) ",
        "Give pay more queues. Look. ",
        "(",
    ],
)
def test_names_with_many_parts_take_no_time_and_the_sentence_stays_english(part: str) -> None:
    began = time.process_time()
    for length in (600, 2_000, 4_000):
        assert said((part * 4_000)[:length]) is None
    assert time.process_time() - began < 5  # of the processor; without a limit one of them takes hours


def _sentences(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for member, held in value.items():
            yield from _sentences(held, member)
    elif isinstance(value, list):
        for held in value:
            yield from _sentences(held, name)
    elif isinstance(value, str) and name in SAID:
        yield value


def test_every_sentence_of_the_samples_plan_has_a_chinese_one() -> None:
    plan = json.loads(SAMPLE_PLAN.read_bytes())
    found = set(_sentences([plan["causes"], plan["findings"], plan["recommendations"]]))
    assert len(found) > 60
    assert sorted(text for text in found if said(text) is None) == []


def test_a_plan_has_key_and_figures_of_its_sentences_and_they_make_both_texts() -> None:
    plan = decoded_plan(SAMPLE_PLAN.read_bytes())
    found = {text for text in _sentences(json.loads(SAMPLE_PLAN.read_bytes())) if " " in text}
    assert found <= plan.sentences.keys()
    for text, parts in plan.sentences.items():
        assert filled(parts) == text
        assert words_of("zh-CN").sentences.say(parts) == said(text)


def test_a_page_says_a_sentence_by_its_key_and_figures() -> None:
    with speaking(
        "zh-CN", {"whatever it says": (Sentence(key="Run {n_clients} again.", figures={"n_clients": "4 clients"}),)}
    ):
        assert words("whatever it says") == "恢复运行 4 个客户端。"
    assert words("whatever it says") == "whatever it says"


@pytest.mark.parametrize(
    "part",
    [
        Sentence(key="Nobody has ever said this of {n_clients}.", figures={"n_clients": "4 clients"}),
        Sentence(key="Run {n_clients} again."),
        Sentence(key="Run {n_clients} again.", figures={"n_clients": (Sentence(key="nobody"), Sentence(key="? {1}"))}),
        Sentence(key="{1} drop {2}", figures={"1": "a", "2": "b"}),
        reduce(lambda inner, _: Sentence(key="{1}.", figures={"1": (inner,)}), range(500), Sentence(key="Yes.")),
    ],
)
def test_a_key_that_this_version_does_not_have_is_understood_by_its_sentence(part: Sentence) -> None:
    assert words_of("zh-CN").sentences.say([part]) is None
    with speaking("zh-CN", {"Run 4 clients again.": (part,)}):
        assert words("Run 4 clients again.") == "恢复运行 4 个客户端。"


def test_texts_that_nobody_understands_do_not_keep_a_plan_waiting() -> None:
    plan = decoded_plan(SAMPLE_PLAN.read_bytes())
    hostile = tuple(f"{number} a b: c, d and e; f › g · h (i) " * 20 for number in range(5_000))
    began = time.process_time()
    assert with_sentences(replace(plan, notes=hostile)).sentences.keys() <= plan.sentences.keys()
    assert time.process_time() - began < 60  # of the processor; all of them take some three minutes
