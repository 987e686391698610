# The two commands of a newcomer, and those of a contributor. Each sets up what it needs.

.PHONY: ladder test portable peers cub asan tsan format check-format clean

ladder:
	scripts/setup.sh build peers
	cmake --preset release -D RUNG_BUILD_TESTS=OFF
	cmake --build --preset release
	build/rung bench gemm/cpu dot/cpu

test:
	scripts/setup.sh build peers test
	cmake --preset release -D RUNG_BUILD_TESTS=ON
	cmake --build --preset release
	ctest --preset release

portable:
	scripts/setup.sh build
	cmake --preset portable
	cmake --build --preset portable

# The newest peers of the CPU ladders, in a virtual environment where `rung bench` finds them.
peers:
	scripts/peers.sh

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
