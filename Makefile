# Everything is made from nothing: the first target you call builds .venv with the pinned dependencies.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_BENCH := $(VENV)/.ready-bench
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SAMPLE := sample_videos/kite_surf.mp4
# Qt's newer wheels for Linux on ARM need glibc 2.39; this is the last one that needs less.
QT_ARM := 6.8.0.2

.PHONY: help run test lint format bench lock clean

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do \
	    printf '  make %-8s %s\n' "$$name" "$$text"; done

run: $(READY)  ## Open the window on a sample clip; without a display, segment the clip into out/
	@if [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ] || [ "$$(uname)" = Darwin ]; then \
	    $(BIN)/scstream $(SAMPLE); \
	else \
	    echo 'There is no display here: segmenting $(SAMPLE) into out/ without a window.'; \
	    $(BIN)/scstream segment $(SAMPLE) --out out/ --overwrite; \
	fi

test: $(READY)  ## Check style, types and layers, then run the tests
	@# The window's tests beside all others, neither keeps two cores busy; compiled before, so that none waits for that.
	@$(BIN)/python -c "import scstream; scstream.warm_up()" & compiled=$$!; $(MAKE) --no-print-directory lint; wait $$compiled
	@export QT_QPA_PLATFORM=$${QT_QPA_PLATFORM:-offscreen}; told=$$(mktemp); \
	$(BIN)/python -m pytest tests/ui > $$told 2>&1 & window=$$!; \
	failed=0; $(BIN)/python -m pytest --ignore tests/ui || failed=1; \
	wait $$window || failed=1; cat $$told; rm -f $$told; \
	exit $$failed

lint: $(READY)  ## Check style, types and layers only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY_BENCH)  ## Measure speed and quality on video, beside other methods
	$(BIN)/scstream bench video

lock:  ## Renew constraints.txt with the newest releases for the oldest Python, on x86-64
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	python3.11 -m venv "$$scratch/venv"; \
	"$$scratch/venv/bin/pip" install --quiet --disable-pip-version-check -e '.[dev,bench,parquet]'; \
	{ echo "# Every dependency, pinned; written by 'make lock'. Use: pip install -c constraints.txt -e '.[dev,parquet]'"; \
	  "$$scratch/venv/bin/pip" freeze --exclude-editable \
	  | sed -E 's/^(PySide6_Essentials|shiboken6)==.*/&; platform_machine != "aarch64"\n\1==$(QT_ARM); platform_machine == "aarch64"/'; \
	} > "$$scratch/constraints.txt"; \
	mv "$$scratch/constraints.txt" constraints.txt

clean:  ## Remove everything these targets made, .venv included
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A Python is suitable when it is new enough and can make virtual environments (Debian ships ensurepip apart).
define find_python
python=; \
for candidate in python3.11 python3.12 python3.13 python3; do \
    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
        python=$$candidate; break; \
    fi; \
done
endef

define need_python
if [ -z "$$python" ]; then \
    echo 'No Python 3.11 or newer with the venv module was found on the PATH. Install one' \
         '(on Debian or Ubuntu: apt-get install python3 python3-venv) and call make again.' >&2; \
    exit 1; \
fi
endef

$(READY): pyproject.toml constraints.txt
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    $(find_python); \
	    if [ -z "$$python" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        echo 'Installing python3 and python3-venv with apt-get'; \
	        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv; } >&2 || true; \
	        $(find_python); \
	    fi; \
	    $(need_python); \
	    echo "Making $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv --clear $(VENV); \
	fi
	$(PIP_INSTALL) -c constraints.txt -e '.[dev,parquet]'
	@lacking=$$($(BIN)/python tools/qt_libraries.py); \
	if [ -n "$$lacking" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing the libraries that Qt's windows need with apt-get: $$lacking"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$lacking; } >&2 || true; \
	    lacking=$$($(BIN)/python tools/qt_libraries.py); \
	fi; \
	if [ -n "$$lacking" ]; then \
	    echo "Windows cannot open here before these are installed (on Debian or Ubuntu: apt-get install $$lacking)." >&2; \
	fi
	@touch $@

$(READY_BENCH): $(READY)
	$(PIP_INSTALL) -c constraints.txt -e '.[bench]'
	@touch $@
