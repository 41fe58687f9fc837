# `make help` lists what there is. Everything runs in .venv, which the first command makes.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
INSTALLED := .venv/.installed
LOWEST := .venv-lowest
LOWEST_INSTALLED := $(LOWEST)/.installed
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# Tests that are small enough to run without compilation.
PLAIN_TESTS := tests/test_compiled.py tests/control tests/references \
	$(addprefix tests/tendons/test_,law.py batch.py embedding.py rows.py recipes.py scenes.py) \
	$(addprefix tests/chains/test_,acceptance_chain.py acceptance_robot.py chain.py) \
	$(addprefix tests/chains/test_,differential.py lumping.py modes.py oracles.py paths.py) \
	$(addprefix tests/chains/test_,real_robots.py robot.py scene.py)
# Tests that depend on how MuJoCo and Gymnasium behave.
LOWEST_TESTS := tests/model tests/engines tests/envs tests/chains

.DELETE_ON_ERROR:
.PHONY: help install demo test test-lowest test-plain lint format bench long peers recipes clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## install the package with its train and dev extras into .venv

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(PIP_INSTALL) -e '.[train,dev]' -c constraints.txt
	touch $@

$(LOWEST_INSTALLED): pyproject.toml constraints.txt constraints-lowest.txt
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	grep -vE '^(gymnasium|mujoco)' constraints.txt > $(LOWEST)/constraints.txt
	cat constraints-lowest.txt >> $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python $(PIP_INSTALL) -e '.[dev]' -c $(LOWEST)/constraints.txt
	touch $@

demo: $(INSTALLED) ## fly the demonstration, results in out/demo
	$(BIN)/tendon-gym demo --out out/demo

test: $(INSTALLED) ## run the whole test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

test-lowest: $(LOWEST_INSTALLED) ## run the short tests on the oldest supported MuJoCo and Gymnasium
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow' $(LOWEST_TESTS)

test-plain: $(INSTALLED) ## run the small tests as plain Python, without compilation
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m 'not slow' $(PLAIN_TESTS)

lint: $(INSTALLED) ## check style, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

format: $(INSTALLED) ## fix what ruff can fix
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(INSTALLED) ## measure what a step costs, about seven minutes; into benchmarks/results
	$(BIN)/python benchmarks/step_cost.py --out benchmarks/results/step_cost.json
	$(BIN)/python benchmarks/steps_per_second.py

long: $(INSTALLED) ## fly 64 arms, and 64 loads on cables, for 10,000 steps, at once and each alone
	$(BIN)/python -m tests.envs.long_flight --out benchmarks/results/long_flight.json
	$(BIN)/python -m tests.envs.long_hoist --out benchmarks/results/long_hoist.json

peers: $(INSTALLED) ## measure other suites, each in its own environment below build/peers
	$(BIN)/python benchmarks/peers.py --out benchmarks/results

recipes: $(INSTALLED) ## train every recipe with three seeds, about 50 minutes; goes on where it stopped
	$(BIN)/python training/run_all.py

clean: ## remove the environments, caches and outputs
	rm -rf .venv .venv-lowest build dist out .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
