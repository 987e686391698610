// Prints a program of random kernels, to be run by `rung emu`: random_kernels SEED KERNELS RUNS

#include <cstdio>
#include <cstdlib>

#include "random/kernel_generator.hpp"

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: random_kernels SEED KERNELS RUNS_OF_EACH\n", stderr);
    return 2;
  }
  const std::string program = rung::random_kernels(
      std::strtoull(arguments[1], nullptr, 10), std::atoi(arguments[2]), std::atoi(arguments[3]));
  std::fputs(program.c_str(), stdout);
  return 0;
}
