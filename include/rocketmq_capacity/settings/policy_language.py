"""The language that a deployment's policy names, without the rest of it: for what many people see."""

from functools import lru_cache
from pathlib import Path

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.yaml_file import mapping_of_file
from rocketmq_capacity.vocabulary import ENGLISH, LANGUAGES, Language


def language_of_policy(policy: Path | None) -> Language:
    """The policy's language; English if it names none, or cannot be read: the next run says what is wrong with it."""
    if policy is None:
        return ENGLISH
    try:
        stat = policy.stat()
    except OSError:
        return ENGLISH
    return _read_once(policy, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _read_once(policy: Path, _file: int, _modified: int, _size: int) -> Language:
    try:
        name = mapping_of_file(policy, "a policy file").get("language")
    except BadInput:
        return ENGLISH
    return next((language for language in LANGUAGES if language == name), ENGLISH)
