#!/bin/sh
# The shell scripts, what make runs in Python, and the files of the container stack; no container engine is needed.
set -eu
cd "$PROJECT_HOME"

shellcheck include/autoscaling/*.sh .make/*.sh .make/compose/*.sh .make/compose/demo/*.sh .ci/run
MYPYPATH=.make mypy .make/*.py .make/compose/*.py
hadolint Dockerfile include/kubernetes/Dockerfile
yamllint --strict docker-compose.yml .yamllint
check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml

# Resolved with new secrets, with and without the demo. The binary is packaged for Linux on x86-64 alone; the command
# of its package loses its exit status, so it is called itself.
compose=$(python -c 'import compose, pathlib; print(pathlib.Path(compose.__file__).with_name("docker-compose"))' \
  2>/dev/null) || compose=""
if [ -z "$compose" ]; then
  if ! docker compose version >/dev/null 2>&1; then
    echo "lint: no docker compose here; docker-compose.yml is checked against its schema alone" >&2
    exit 0
  fi
  compose="docker compose"
fi
secrets=$(mktemp)
trap 'rm -f "$secrets"' EXIT
sh .make/compose/new_env.sh >"$secrets"
for profiles in "" demo; do
  COMPOSE_PROFILES=$profiles $compose --env-file "$secrets" config --quiet
done
