# Two commands on a machine with Python 3.11 or later and make: `make run` and `make test`. Everything else is set up by them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
IN := .make/env.sh
PYTEST := $(IN) python -m pytest
# Four processes share the tests (tests/fixtures/groups.py): what waits for a broker, for Airflow, for a browser or
# for a time limit leaves its core to the others. The fast tests wait for nothing: one process a core. With WORKERS=0
# there is one process.
SHARED = --numprocesses=$(or $(WORKERS),4)
SHARED_FAST = --numprocesses=$(or $(WORKERS),logical)
unexport PYTHONDONTWRITEBYTECODE

# Every step of the set-up leaves a stamp in the folder that it fills; a deleted folder is set up again. Two steps run at
# once where neither needs the other: the first plan is made beside Airflow's database, Java is found beside Python.
SET_UP := $(MAKE) --silent --jobs=2
FOR_DEV := .venv/set-up-dev .cache/java-home
FOR_TEST := $(FOR_DEV) .cache/set-up-maven .cache/set-up-postgres .cache/set-up-browser .cache/set-up-s3 \
  .cache/set-up-gcs .cache/set-up-archive
FOR_RUN := .venv/set-up-package .cache/java-home .cache/set-up-archive .airflow/set-up
# A Java that has been removed since is looked for again.
$(shell [ -x "$$(cat .cache/java-home 2>/dev/null)/bin/java" ] || rm -f .cache/java-home)

.PHONY: help set-up-dev set-up-test run up down test test-fast pictures lint audit sbom format bench lock docs clean

help: ## what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

set-up-dev:
	@$(SET_UP) $(FOR_DEV)

set-up-test:
	@$(SET_UP) $(FOR_TEST)

run: ## plan the recorded cluster, the first time at once and then with the daily Dag, and say where the report is
	@$(SET_UP) $(FOR_RUN)
	@$(IN) .make/run.sh

up: ## start Airflow on this machine, on loopback only, and leave it running (AIRFLOW_PORT=8080)
	@$(SET_UP) $(FOR_RUN)
	@$(IN) python .make/up.py

down: ## stop what make up started, and what a crash left of it
	@[ ! -x .venv/bin/python ] || $(IN) python .make/down.py

test: ## all tests; those that need Maven, PostgreSQL or Chromium are skipped without them
	@$(SET_UP) $(FOR_TEST)
	@$(PYTEST) $(SHARED)

test-fast: ## the tests that need no Java classes, no real cluster, no Airflow, no browser and little time
	@$(SET_UP) $(FOR_DEV)
	@$(PYTEST) $(SHARED_FAST) -m "not java and not real_cluster and not airflow and not browser and not stack and not slow"

pictures: ## take the README's screenshots again, with the test of the whole stack
	@$(SET_UP) $(FOR_TEST)
	@$(PYTEST) tests/stack --pictures include/docs/pictures/airflow

lint: ## style, types and who may import whom
	@$(SET_UP) $(FOR_DEV)
	@$(IN) ruff check .
	@$(IN) ruff format --check .
	@$(IN) mypy
	@$(IN) lint-imports --no-logo
	@$(IN) .make/lint_stack.sh

audit: ## ask for known vulnerabilities of every pin; .ci/accepted-vulnerabilities.txt lists the accepted ones
	@$(SET_UP) $(FOR_DEV)
	@$(IN) python .make/audit.py

sbom: ## write sbom.cdx.json: every package and every jar that runs, as CycloneDX
	@$(SET_UP) $(FOR_DEV)
	@$(IN) python .make/sbom.py

format: ## format the code
	@$(SET_UP) $(FOR_DEV)
	@$(IN) ruff check --fix-only -q .
	@$(IN) ruff format .

bench: ## time and memory of plans of any size, beside Spark's floor and the official classes
	@$(SET_UP) $(FOR_TEST)
	@$(IN) python -m tests.benchmarks

lock: ## resolve requirements*.in to requirements*.txt, with the hashes of every package
	@$(SET_UP) $(FOR_DEV)
	@for file in requirements requirements-dev requirements-build; do \
	  $(IN) python .make/uv.py compile -q --universal --python-version 3.11 --no-header --no-annotate --generate-hashes \
	    $$file.in -o $$file.txt || exit 1; done

docs: ## write the data dictionary, the JSON Schemas, the rules and actions, and the licences again from the code
	@$(SET_UP) $(FOR_DEV)
	@$(IN) python -m rocketmq_capacity.report.documents include/docs
	@$(IN) python .make/licences.py

clean: down ## delete what the set-up and runs made, except the lake in data/
	@rm -rf .venv .airflow .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis sbom.cdx.json

# ------------------------------------------------------------------------------------------------- set-up, each step once

.venv/set-up-python: requirements.txt
	@.make/setup.sh python
	@touch $@

.venv/set-up-package: pyproject.toml requirements-build.txt .venv/set-up-python
	@.make/setup.sh package
	@touch $@

.venv/set-up-dev: requirements-dev.txt .venv/set-up-package
	@.make/setup.sh dev
	@touch $@

.cache/java-home:
	@.make/setup.sh java

.cache/set-up-maven: .cache/java-home
	@.make/setup.sh maven
	@touch $@

.cache/set-up-postgres .cache/set-up-browser .cache/set-up-s3 .cache/set-up-gcs: .cache/set-up-%:
	@mkdir -p .cache
	@.make/setup.sh $*
	@touch $@

.cache/set-up-archive: .venv/set-up-package .cache/java-home
	@.make/setup.sh archive
	@touch $@

.airflow/set-up: .venv/set-up-package .make/setup.sh
	@.make/setup.sh airflow
	@touch $@
