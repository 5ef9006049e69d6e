"""Runs `uv pip` with the settings of this machine's pip; its arguments are those of `uv pip`.

Where pip has an index, certificates or a proxy of its own, in its files or its environment, uv uses the same. Settings
of uv itself in the environment win.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SAME: Final = {
    "index-url": ("UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "extra-index-url": ("UV_INDEX", "UV_EXTRA_INDEX_URL"),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "proxy": ("ALL_PROXY",),
}
"""Settings of pip, and the variables that uv has for each; the first is the one that is set."""
SECTIONS: Final = ("global", "install", ":env:")
"""Where pip takes its settings from; the later one wins."""
SEPARATORS: Final = {"UV_INDEX": " ", "UV_FIND_LINKS": ",", "UV_INSECURE_HOST": " "}
"""Of the variables that hold several values; pip separates them by blanks and line ends."""


def main() -> None:
    """Become uv."""
    uv = Path(sys.executable).with_name("uv")
    told = settings_of_pip()
    # There is no variable for this one.
    no_index = ["--no-index"] if told.get("no-index", "").lower() in {"1", "true", "yes", "on"} else []
    os.execve(uv, [str(uv), "pip", *sys.argv[1:], *no_index], environment(told, os.environ))


def settings_of_pip() -> dict[str, str]:
    """The settings of pip, by their names; the same for whoever asks from its environment."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, setting = name.rpartition(".")
        if section in found:
            found[section][setting] = str(ast.literal_eval(value))
    return {setting: value for section in SECTIONS for setting, value in found[section].items()}


def environment(of_pip: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The environment in which uv does what pip would do here."""
    made = dict(own)
    for setting, names in SAME.items():
        value = of_pip.get(setting, "")
        if setting == "find-links":
            # pip goes on without a folder that is not there; uv would end.
            value = " ".join(place for place in value.split() if "://" in place or Path(place).exists())
        if value and not any(name in own for name in names):
            made[names[0]] = SEPARATORS[names[0]].join(value.split()) if names[0] in SEPARATORS else value
    if "UV_INDEX" in made and "UV_INDEX" not in own:
        # pip takes the best version from whichever index has it; uv would look at the first that knows the name.
        made.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")
    # Certificates of requests and curl, which pip heeds as well.
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        if name in own:
            made.setdefault("SSL_CERT_FILE", own[name])
    return made


if __name__ == "__main__":
    main()
