# Needs Python 3.11 and make, nothing else: every target installs what it needs into $(VENV).

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= $(BIN)/python examples/demo.py
PYTEST_ARGS ?= -n 2 --dist loadgroup
PAPERS := calphazero multiverse guissart khan panchal
PACKAGES := sudoku_gym curricula learning agents baselines tests examples benchmarks

# Two threads a process on a machine with two cores are slower than one, often by far.
export OMP_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo reproduce $(PAPERS:%=reproduce-%) test test-all coverage lint format types docs tables build clean

help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-21s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-agents  ## Train a network to solve 9x9 by itself, compare it with baselines
	$(DEMO)

# A program a paper, which goes on where it was stopped; PAPER_ARGS are its options (--help), none
# if they are given as empty.
reproduce-calphazero: PAPER := reproduce_calphazero.py
reproduce-multiverse: PAPER := neural_4x4.py multiverse
reproduce-multiverse: PAPER_ARGS ?= --divisions random --models M12 M10 M6 --epochs 15
reproduce-guissart: PAPER := neural_9x9.py guissart
reproduce-khan: PAPER := belief_propagation.py
reproduce-panchal: PAPER := classical.py
$(PAPERS:%=reproduce-%): $(VENV)/.installed-agents
	$(BIN)/python benchmarks/$(PAPER) $(PAPER_ARGS)

reproduce:  ## Name the targets that run a paper again, and the minutes they take of one core
	@echo 'make reproduce-calphazero (15), -multiverse (15), -guissart (15), -khan (5) and -panchal (10)'
	@echo 'make reproduce-multiverse PAPER_ARGS= (120) trains all models on both divisions'

test: $(VENV)/.installed-dev  ## Run the tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-all: $(VENV)/.installed-dev  ## Run the nightly tests too
	$(BIN)/python -m pytest -m '' --hypothesis-profile=nightly $(PYTEST_ARGS)

coverage: $(VENV)/.installed-dev  ## Show the lines of Python that the tests run, file by file
	$(BIN)/python -m pytest --cov --cov-report=term $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev  ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.installed-dev  ## Format the code and sort the imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.installed-dev  ## Check the types of the packages
	$(BIN)/mypy

docs: $(VENV)/.installed-docs  ## Build the documentation into site/
	$(BIN)/sudoku-gym info --compile
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

tables: $(VENV)/.installed-dev  ## Write the tables of results into the pages in docs/
	$(BIN)/python docs/write_tables.py

build: $(VENV)/.installed-dev  ## Build the sdist and the wheel into dist/
	$(BIN)/python -m build

clean:  ## Remove what the other targets made, except .venv
	rm -rf build dist site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .numba_cache
	find $(PACKAGES) -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of extras: a second call is instant, and sets add up in one environment.
# Python compiles a module when it is first imported; of most of these packages few ever are.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[$*]'
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
