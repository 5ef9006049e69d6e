"""The plan file, ``rocketmq-capacity/plan/1``: the members of plan.json, in its order; ``plan`` is the whole.

All code that writes or reads a plan uses these types, and the JSON Schema is made from them
(:mod:`rocketmq_capacity.report.schema`). Unknown members are ignored when a plan is read, because a later version may
add some. Unknown values are written as null. Members that may be ``UNSET`` are left out if they do not apply.

Source: include/docs/formats.md, "Plan file".
"""
