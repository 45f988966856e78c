# Every command a newcomer needs. `make install`, then `make test`; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# As modelyard itself finds it (paths.cache_dir).
CACHE := $(or $(MODELYARD_CACHE_DIR),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/modelyard)

BIN := .venv/bin
NAME ?= modelyard

.PHONY: help install test test-fast test-full prove mutants lint bench bench-cold golden values rules costs docs lock clean

help: ## List these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.ready: requirements.lock pyproject.toml installer/bootstrap.sh
	@bash installer/bootstrap.sh

install: .venv/.ready ## From a bare clone to a running platform and a job through its queue
	@$(BIN)/modelyard install --name $(NAME)

test: .venv/.ready ## All that must hold for a change to land
	@bash tests/run.sh

test-fast: lint ## Lint, types, unit and property tests: no cluster
	@$(BIN)/pytest -q -n 2 -m "not cluster and not platform and not long"

test-full: .venv/.ready ## `make test`, and what it leaves out because it is long
	@bash tests/run.sh --full

mutants: .venv/.ready ## Break the platform (profile full) on cluster NAME in many ways; conformance must see each
	@$(BIN)/python tests/mutants/run.py --name $(NAME)

prove: .venv/.ready ## Run conformance on the profile full and record what it proves: all, or AREA="queue data"
	@bash tests/prove.sh $(AREA)

lint: .venv/.ready ## ruff, mypy --strict, import contracts
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

bench: .venv/.ready ## Speed and memory beside the named peers, with JSON in bench-results/
	@$(BIN)/python -m benchmarks.warm

bench-cold: .venv/.ready ## From empty caches to the smoke job's result
	@$(BIN)/python -m benchmarks.cold

rules: .venv/.ready ## Write the alert rules for Prometheus' operator anew
	@MODELYARD_WRITE_RULES=1 $(BIN)/pytest -q tests/manifests/test_alert_rules.py

values: .venv/.ready ## Write the values of overlays/*/values.yaml where kustomize reads them
	@$(BIN)/python -m modelyard.scaffold.values

golden: .venv/.ready ## Write the targets' summaries in tests/manifests/golden anew
	@MODELYARD_WRITE_GOLDEN=1 $(BIN)/pytest -q tests/manifests/test_golden.py

costs: .venv/.ready ## Measure what components use at rest on the embedded cluster NAME, and write it into component.yaml
	@$(BIN)/python -m benchmarks.costs --name $(NAME) --write

docs: .venv/.ready ## Generate docs/reference from the code
	@$(BIN)/python -m docs.generate

lock: ## Resolve the Python dependencies anew into requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group dev --generate-hashes --python-version 3.11 --universal --no-header --no-annotate --quiet --output-file requirements.lock

clean: ## Remove every embedded cluster, the caches and the virtual environment
	@if [ -x $(BIN)/modelyard ]; then $(BIN)/modelyard local down --all --delete; fi
	@if [ -d "$(CACHE)/go" ]; then chmod -R u+w "$(CACHE)/go"; fi
	@rm -rf "$(CACHE)" .venv build dist bench-results .pytest_cache .mypy_cache .ruff_cache
