#pragma once
// The options of rung-mpi-bench.

#include <cstdint>
#include <string>

namespace rung::dist_bench {

struct Arguments {
  std::int64_t n = 4096;
  int block = 64, rounds = 3;
  std::string dtype = "f64", json;
  bool on_gpus = false;
};

/// Matrices in GPU memory against the product of one GPU. Every rank calls it.
void run_on_gpus(const Arguments& arguments);

}  // namespace rung::dist_bench
