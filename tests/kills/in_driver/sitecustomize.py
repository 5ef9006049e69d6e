"""Python imports this by its name as it starts, where this folder is on its path."""

from tests.kills.points import watch_app

watch_app()
