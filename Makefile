# The commands of the README. None needs root.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# two workers, whole files: some tests of a file share a server
PYTEST_ARGS ?= -n 2 --dist loadfile
INPUTS := pyproject.toml requirements/dev.in requirements/constraints.txt $(wildcard plugins/*/pyproject.toml skills/pyproject.toml)

.PHONY: run test setup lint types check sweep soak bench fresh lock clean

setup: $(STAMP)

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(grep -E '^uv==' requirements/constraints.txt)"

$(STAMP): $(BIN)/uv $(INPUTS)
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode -r requirements/dev.in -c requirements/constraints.txt
	$(BIN)/python -m compileall -q openclaw_core plugins   # editable sources too: see docs/explanation/speed.md
	touch $(STAMP)

run: setup
	$(BIN)/openclaw gateway run

test: setup
	$(BIN)/python tools/sync_plugins.py --check
	$(BIN)/python tools/generate_docs.py --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# every crash point and every pair of them; takes hours, goes on where it was stopped (results in build/sweep)
sweep: setup
	PYTHONPATH=tests/crash $(BIN)/python -m crashsweep $(SWEEP_ARGS)

lint: setup
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports

types: setup
	$(BIN)/mypy

lock:
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip compile --universal --no-emit-index-url --no-header --no-annotate --python-version 3.11 requirements/dev.in | grep -v '^-e ' > requirements/constraints.txt.new
	mv requirements/constraints.txt.new requirements/constraints.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache

# What takes long: not part of `make test`.
bench: setup
	$(BIN)/python benchmarks/commands.py
	$(BIN)/python benchmarks/turns.py

soak: setup
	$(BIN)/python benchmarks/soak.py $(MINUTES)

fresh: setup
	OPENCLAW_FRESH=1 $(BIN)/python -m pytest tests/wheel
