# make run · make test · make check   (make help lists them)
VENV := .venv
BIN := $(VENV)/bin
JOBS := 4
SETUP := tools/setup.sh tools/set_up.py requirements-uv.lock pyproject.toml
COMPILE := $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header
# One heap for all threads of a process: docs/operating.md, Processes.
export MALLOC_ARENA_MAX ?= 1

.DEFAULT_GOAL := help
.PHONY: help run demo quick test sweeps durations engines check words words-check limits faults bench mutants lock screenshots clean

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1	/' | expand -t 22

run: $(VENV)/.runtime ## set up what is missing and serve the dashboard with its sandbox
	@exec $(BIN)/ridedash up

demo: $(VENV)/.runtime ## set up what is missing and open the stage: desk, guest's phone and stories
	@exec $(BIN)/ridedash up --demo-stage

quick: $(VENV)/.dev ## the short tests, in minutes: no browser, no processes, SQLite
	@sh tools/test.sh $(BIN) $(JOBS) quick $(ARGS)

test: $(VENV)/.dev ## set up what is missing and run the tests, on SQLite and on PostgreSQL (JOBS=4 at once)
	@sh tools/test.sh $(BIN) $(JOBS) test $(ARGS)

sweeps: $(VENV)/.dev ## the tests that `make test` leaves out: every page in every state
	@sh tools/test.sh $(BIN) $(JOBS) sweeps $(ARGS)

durations: $(VENV)/.dev ## measure each test, so that it lands in its tier (on a quiet machine)
	@RIDEDASH_TEST_DURATIONS=write $(BIN)/pytest -q -n $(JOBS) -m "not engine"

engines: $(VENV)/.dev ## a ride in Firefox and in WebKit (Debian: firefox-esr webkit2gtk-driver xvfb)
	@$(BIN)/pytest -m engine tests/engines $(ARGS)

faults: $(VENV)/.dev ## every fault of the matrix, the long way; ARGS="--short --rows 1,2" for less
	@$(BIN)/python -m bench.faults $(ARGS)

bench: $(VENV)/.dev ## every figure beside its baseline; ARGS="--short --only picker --json bench.json" for less
	@$(BIN)/python -m bench $(ARGS)

mutants: $(VENV)/.dev ## whether the tests notice wrong lines of the core; ARGS="--seed 7 --count 150"
	@$(BIN)/python -m tools.mutants $(ARGS)

check: $(VENV)/.dev ## lint, format, types, and the words of each language
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/oxfmt --check static/css static/js
	$(BIN)/python -m tools.styles
	$(BIN)/oxlint static/js
	$(BIN)/djangofmt --check templates ridedash/sandbox/templates
	$(BIN)/djangofmt check templates ridedash/sandbox/templates
	$(BIN)/python -m tools.words --check

words: $(VENV)/.dev ## bring translations/ up to date with the code, and say what is left to do
	@RIDEDASH_WORDS=write $(BIN)/pytest -q --no-header tests/wording/test_tier1.py
	@$(BIN)/python -m tools.words

words-check: $(VENV)/.dev
	@$(BIN)/python -m tools.words --check

limits: $(VENV)/.dev ## write docs/limits.md from the code
	@$(BIN)/python -m tools.limits

screenshots: $(VENV)/.dev ## make the README's pictures from the running program; ARGS="--all": sheets of all pages
	@$(BIN)/python -m tools.screenshots $(ARGS)

lock: $(VENV)/.dev ## write the lock files anew, with the uv of the virtual environment
	$(COMPILE) --group build --group test --group e2e --group engines --group dev --all-extras pyproject.toml -o requirements-dev.lock
	$(COMPILE) --group build pyproject.toml -c requirements-dev.lock -o requirements.lock
	$(COMPILE) --group build --extra production pyproject.toml -c requirements-dev.lock -o requirements-production.lock
	echo uv | $(COMPILE) - -o requirements-uv.lock

clean: ## remove the virtual environment and caches; the instance folder stays
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/.runtime: requirements.lock $(SETUP)
	@sh tools/setup.sh $(VENV) requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(SETUP)
	@sh tools/setup.sh $(VENV) requirements-dev.lock
	@touch $@ $(VENV)/.runtime
