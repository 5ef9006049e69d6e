"""The lines about the progress in Chinese: the names of steps, folders and figures as in English."""

import re
from io import StringIO

from rocketmq_capacity.language.current import Spoken
from rocketmq_capacity.progress.lines import LogLines
from rocketmq_capacity.progress.on_stream import progress_on
from rocketmq_capacity.progress.progress import INFO, Phase, ProgressStep
from tests.progress.test_lines import without_figures

CHINESE = Spoken("zh-CN")


def test_each_line_is_chinese() -> None:
    stream = StringIO()
    with progress_on(stream, said=CHINESE) as progress:
        with progress.step("assess") as step:
            with progress.phase("Spark starts"):
                pass
            with progress.phase("groups", 10_003):
                pass
            step.tells("findings: 3 CRITICAL, 1 WARNING, 0 INFO")
            step.tells("12,345 rows in 9 tables")
        progress.tell("plan: done in 75 s, in the folder plan", INFO)
        progress.tell("nobody has ever said this")

    assert [re.sub(r"[\d,]+ MiB", "*", line) for line in without_figures(stream)] == [
        "assess：开始",
        "assess：启动 Spark：开始",
        "assess：启动 Spark：完成，耗时 *",
        "assess：消费组：开始，共 10,003",
        "assess：消费组：完成 10,003，耗时 *",
        "assess：完成，耗时 *：发现项：3 CRITICAL、1 WARNING、0 INFO；9 张表共 12,345 行；内存峰值 *",
        "plan：完成，耗时 75 秒，位于目录 plan",
        "nobody has ever said this",
    ]


def test_a_step_without_news_for_long_says_how_far_it_is() -> None:
    stream = StringIO()
    lines = LogLines(stream, silent_at_most_s=0, said=CHINESE)
    step = ProgressStep("collect")
    lines.begins(step)
    lines.looks()
    for step.phase in (Phase("Spark starts"), Phase("samples", 3, lambda: 1)):
        lines.looks()

    assert [re.sub(r"\d\.\d s", "*", line.partition(" INFO ")[2]) for line in stream.getvalue().splitlines()] == [
        "collect：开始",
        "collect：已进行 *",
        "collect：启动 Spark：进行中，已用 *",
        "collect：采样：1 / 3，已用 *",
    ]
