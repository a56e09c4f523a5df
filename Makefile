# Every target that needs Python first creates .venv with the pinned dependencies.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DOCS := $(VENV)/.ready-docs
READY_BENCH := $(VENV)/.ready-bench
# uv takes a fraction of pip's time, but does not know the package index of pip's settings: if it fails, pip tries.
# Without compiling: most of what the packages contain is never imported.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
UV_INSTALL := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python -c constraints.txt
SAMPLE := sample_videos/kite_surf.mp4
# The last Qt release whose wheels for Linux on ARM run with a glibc older than 2.39.
QT_ARM := 6.8.0.2

.PHONY: help run test test-slow torture test-x test-newest test-lowest lint format bench docs wheels lock clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do \
	    printf '  make %-12s %s\n' "$$name" "$$text"; done

run: $(READY)  ## Open a sample clip in the window; without a display, segment it into out/
	@if [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ] || [ "$$(uname)" = Darwin ]; then \
	    $(BIN)/scstream $(SAMPLE); \
	else \
	    echo 'No display found: segmenting $(SAMPLE) into out/ without a window.'; \
	    $(BIN)/scstream segment $(SAMPLE) --out out/ --overwrite; \
	fi

# Processes that run tests at the same time. Each gets whole files, so that fixtures of a module are made once; one that
# crashes is not started again, since it would repeat the test that crashed it.
JOBS := 2

test: $(READY)  ## Check style, types and import layers, then run the tests except the slow ones (JOBS=4: in four processes)
	@# Compile the kernels while the linters run and after them, on two cores, so that no test waits for the compiler.
	@$(BIN)/python -c "import scstream; scstream.warm_up()" & compiler=$$!; $(MAKE) --no-print-directory lint; \
	    $(BIN)/python -c "from scstream import warmup; [step() for _, _, step in warmup.stream_steps()]"; wait $$compiler
	@# All processes must collect the tests in the same order, also where parameters come from a set.
	PYTHONHASHSEED=0 QT_QPA_PLATFORM=$${QT_QPA_PLATFORM:-offscreen} $(BIN)/python -m pytest -m 'not slow' -n $(JOBS) --dist loadfile --max-worker-restart 0

test-slow: $(READY)  ## Run the slow tests: quality, distributions, leaks, long and torn sessions
	QT_QPA_PLATFORM=$${QT_QPA_PLATFORM:-offscreen} $(BIN)/python -m pytest -m slow

# For instance: make torture PARTS='media sessions' SECONDS=60 SEED=3
torture: $(READY)  ## Attack the program for an hour or more: damaged files, kills, power cuts, full disks, a monkey, a bad camera
	PYTHONPATH=tests QT_QPA_PLATFORM=offscreen $(BIN)/python -m torture $(PARTS) \
	    $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SCALE),--scale $(SCALE)) $(if $(SEED),--seed $(SEED))

test-x: $(READY)  ## Run the window's tests on an X server without a screen, with a window manager (TESTS=tests/ui/viewer: only those)
	@if ! command -v xvfb-run >/dev/null || ! command -v openbox >/dev/null; then \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        echo 'Installing xvfb, xauth and openbox with apt-get'; \
	        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq xvfb xauth openbox; } >&2; \
	    else \
	        echo 'Cannot find Xvfb and openbox. On Debian or Ubuntu: apt-get install xvfb xauth openbox' >&2; exit 1; \
	    fi; \
	fi
	QT_QPA_PLATFORM=xcb xvfb-run -a -s '-screen 0 1920x1080x24' bash -c \
	    'openbox & manager=$$!; trap "kill $$manager" EXIT; $(BIN)/python -m pytest $(or $(TESTS),tests/ui)'

test-newest: $(READY)  ## Run the quick tests with the newest dependencies, in .venv-newest (PYTHON=python3.13: with that Python)
	$(or $(PYTHON),$(BIN)/python) tools/test_versions.py newest

test-lowest: $(READY)  ## Run the quick tests with the lowest allowed dependencies, in .venv-lowest
	$(or $(PYTHON),$(BIN)/python) tools/test_versions.py lowest

lint: $(READY)  ## Check style, types and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## Format the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# For instance: make bench CLIPS='a.mp4 b.mp4' STREAMS=folder DAVIS=folder SUPERVOXELS='camvid --void 11'. Quick results are not for the documentation.
BENCH = $(if $(QUICK),out,docs)
SAVE = $(if $(QUICK),--quick) --save $(BENCH)/benchmarks
bench: $(READY_BENCH)  ## Run the benchmarks and write docs/benchmarks.md (QUICK=1: rough figures, in out/)
	mkdir -p $(BENCH)/benchmarks
	$(BIN)/scstream bench scaling $(CLIPS) $(SAVE)/scaling.json
	$(BIN)/scstream bench streams $(if $(STREAMS),--data $(STREAMS)) $(SAVE)/streams.json
	$(if $(SUPERVOXELS),$(BIN)/scstream bench supervoxels $(SUPERVOXELS) $(SAVE)/supervoxels.json)
	$(if $(DAVIS),$(BIN)/scstream bench video $(DAVIS) $(SAVE)/video.json)
	$(BIN)/python tools/benchmark_page.py --results $(BENCH)/benchmarks --page $(BENCH)/benchmarks.md

docs: $(READY_DOCS)  ## Build the documentation site in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo 'Open site/index.html; to search, serve it: $(BIN)/python -m http.server -d site'

wheels: $(READY)  ## Build both wheels into dist/ and try them in empty environments (PYTHON=python3.13: with that Python)
	$(or $(PYTHON),$(BIN)/python) tools/check_wheels.py dist

lock:  ## Update constraints.txt to the newest releases for Python 3.11, on x86-64
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	python3.11 -m venv "$$scratch/venv"; \
	"$$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -e ./engine -e '.[bench,dev,docs]'; \
	{ echo "# Every dependency, pinned; written by 'make lock'. Use: pip install -c constraints.txt -e ./engine -e '.[dev]'"; \
	  "$$scratch/venv/bin/pip" freeze --exclude-editable \
	  | sed -E 's/^(PySide6_Essentials|shiboken6)==.*/&; platform_machine != "aarch64"\n\1==$(QT_ARM); platform_machine == "aarch64"/'; \
	} > "$$scratch/constraints.txt"; \
	mv "$$scratch/constraints.txt" constraints.txt

clean:  ## Remove all generated files, including .venv
	rm -rf $(VENV) $(VENV)-newest $(VENV)-lowest out build dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Python must be 3.11 or newer and able to create virtual environments (Debian packages ensurepip separately).
define find_python
python=; \
for candidate in python3.11 python3.12 python3.13 python3.14 python3; do \
    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
        python=$$candidate; break; \
    fi; \
done
endef

define need_python
if [ -z "$$python" ]; then \
    echo 'Cannot find Python 3.11 or newer with the venv module. Install it' \
         '(on Debian or Ubuntu: apt-get install python3 python3-venv) and run make again.' >&2; \
    exit 1; \
fi
endef

$(READY): pyproject.toml engine/pyproject.toml constraints.txt
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    $(find_python); \
	    if [ -z "$$python" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        echo 'Installing python3 and python3-venv with apt-get'; \
	        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv; } >&2 || true; \
	        $(find_python); \
	    fi; \
	    $(need_python); \
	    echo "Creating $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV); \
	fi
	$(PIP_INSTALL) uv
	$(UV_INSTALL) -e ./engine -e '.[dev]' || $(PIP_INSTALL) -e ./engine -e '.[dev]'
	@missing=$$($(BIN)/python tools/qt_libraries.py); \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing the system libraries that Qt needs with apt-get: $$missing"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing; } >&2 || true; \
	    missing=$$($(BIN)/python tools/qt_libraries.py); \
	fi; \
	if [ -n "$$missing" ]; then \
	    echo "The window cannot open: Qt needs system libraries. On Debian or Ubuntu: apt-get install $$missing" >&2; \
	fi
	@touch $@

$(READY_DOCS): $(READY)
	$(UV_INSTALL) -e ./engine -e '.[docs]' || $(PIP_INSTALL) -e ./engine -e '.[docs]'
	@touch $@

$(READY_BENCH): $(READY)
	$(UV_INSTALL) -e ./engine -e '.[bench]' || $(PIP_INSTALL) -e ./engine -e '.[bench]'
	@touch $@
