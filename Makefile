# Scout's commands. Everything lives in .venv; nothing is installed outside this folder.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
LOCK := $(BIN)/uv pip compile pyproject.toml .ci/build.in --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --quiet
NEW_SECRET := 'import secrets; print("\nSCOUT_CRON_SECRET=" + secrets.token_urlsafe(32))'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo serve test fuzz lint bench lock

help: ## List these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

install: .venv/.scout ## Set up .venv with what Scout needs to run
	@echo "Ready: $(BIN)/scout --help"

demo: .venv/.scout ## Run the whole cycle on production-shaped data, on this machine only
	$(BIN)/scout demo $(ARGS)

serve: .venv/.scout ## Write a cron secret to .env once, then serve and say how to call
	@if [ -z "$$SCOUT_CRON_SECRET" ]; then \
		grep -Eqs '^[[:space:]]*(export[[:space:]]+)?SCOUT_CRON_SECRET=' .env || \
			(umask 077; $(BIN)/python -c $(NEW_SECRET) >>.env); \
		chmod 600 .env; \
	fi
	@exec $(BIN)/scout serve $(ARGS)

test: .venv/.scout .venv/.dev ## Run the tests (ARGS="-k name" for some of them)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 $(ARGS)

fuzz: .venv/.scout .venv/.dev ## Put 10,000 random inputs through every parser (ARGS=500 for fewer)
	$(BIN)/python -W ignore -m tests.fuzz $(ARGS)

lint: .venv/.scout .venv/.dev ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests bench
	$(BIN)/lint-imports --no-cache --no-logo

bench: .venv/.scout .venv/.dev ## Measure what the documents claim
	$(BIN)/python -m bench $(ARGS)

lock: .venv/.locked ## Choose the newest allowed versions and write both lock files
	$(PIP) install uv
	$(LOCK) --upgrade --output-file requirements.lock
	$(LOCK) --extra dev --constraint requirements.lock --upgrade --output-file requirements-dev.lock

# Set-up, each step done again only when the file that it reads has changed.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Scout needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.locked: requirements.lock .venv/.made
	@echo "Installing what requirements.lock names into .venv (once, under a minute)"
	@$(PIP) install --require-hashes -r requirements.lock
	@touch $@

.venv/.scout: pyproject.toml .venv/.locked
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.made
	@echo "Installing the test tools of requirements-dev.lock into .venv"
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@
