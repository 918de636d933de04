# Two commands on a fresh machine: `make demo` and `make test`. Both set up what they need.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CLEAN  := build/clean

.PHONY: demo test check docs wheel-test clean

demo: $(VENV)/.installed-plot
	$(BIN)/handful demo -o demo --force

test: $(VENV)/.installed-test
	$(MAKE) --no-print-directory -j 2 --output-sync=target check wheel-test
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.installed-test
	$(BIN)/ruff check src tests benchmarks examples docs
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict --site-dir site

# The sdist, the wheel built from it, and that wheel at work where nothing else is installed.
wheel-test: $(VENV)/.installed-test
	rm -rf dist $(CLEAN)
	$(BIN)/python -m build --outdir dist . > /dev/null
	$(PYTHON) -m venv --without-pip $(CLEAN)
	$(BIN)/pip --python $(CLEAN)/bin/python install --quiet --disable-pip-version-check --no-compile dist/*.whl
	$(CLEAN)/bin/python tests/smoke.py

$(VENV)/.installed-%: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[$*]"
	touch $@

clean:
	rm -rf $(VENV) demo dist build site .pytest_cache .hypothesis .mypy_cache .ruff_cache
