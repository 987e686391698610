// Prints the limit of threads, and the number of threads after a product with the default and after
// one with three. The argument is a limit for the program to set.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

#include "rung/rung.hpp"

namespace {

long threads_after_product(int threads) {
  constexpr int n = 500;
  const std::vector<float> a(n * n, 1.0f);
  std::vector<float> c(a.size());
  rung::gemm(rung::row_major(a.data(), n, n), rung::row_major(a.data(), n, n),
             rung::row_major(c.data(), n, n), {.threads = threads});
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) rung::set_num_threads(std::atoi(argv[1]));
  const long usual = threads_after_product(0), asked = threads_after_product(3);
  std::printf("limit %d, %ld threads, %ld if asked\n", rung::get_num_threads(), usual, asked);
}
