"""``python -m rocketmq_capacity.report.documents FOLDER``: writes the documents that are made from the code."""

import sys
from pathlib import Path

from rocketmq_capacity.report import rules_page, schema
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.tables import dictionary


def documents() -> dict[str, bytes]:
    """The content of each: the data dictionary, the rules and actions, and the JSON Schemas."""
    return {
        dictionary.FILE: dictionary.dictionary().encode(),
        rules_page.FILE: rules_page.page().encode(),
        **{name: json_file(schema.schema_of(file)) for name, file in schema.FILES.items()},
    }


if __name__ == "__main__":
    for name, content in documents().items():
        (Path(sys.argv[1]) / name).write_bytes(content)
