// Prints a program of random kernels, to be run by `rung emu`: random_kernels SEED KERNELS RUNS [puns]

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "random/kernel_generator.hpp"

int main(int count, char** arguments) {
  const bool puns = count == 5 && std::strcmp(arguments[4], "puns") == 0;
  if (count != 4 && !puns) {
    std::fputs("usage: random_kernels SEED KERNELS RUNS_OF_EACH [puns]\n", stderr);
    return 2;
  }
  const std::string program =
      rung::random_kernels(std::strtoull(arguments[1], nullptr, 10), std::atoi(arguments[2]),
                           std::atoi(arguments[3]), puns ? rung::Steps::puns : rung::Steps::mixed);
  std::fputs(program.c_str(), stdout);
  return 0;
}
