#pragma once
// Random CUDA programs that check their own results.
//
// A kernel is a list of steps. A step is either the text of one thread (ifs, switches, loops, early
// returns, traps that are never reached, calls), or an exchange between converged threads: a
// shuffle, a reduction, a ballot, a barrier. The same text is written twice, into a kernel and into
// a plain C++ function that runs each step for one thread after the other. The program launches
// each kernel, calls the function, and prints the number of results that differ.

#include <cstdint>
#include <string>

#include "random/kernel_text.hpp"

namespace rung {

/// Returns the text of a program with `kernels` kernels. A seed gives the same text everywhere. The
/// program prints "RUNS runs, 0 wrong", or a line for each of the first wrong results.
std::string random_kernels(std::uint64_t seed, int kernels, int runs_of_each,
                           Steps steps = Steps::mixed);

}  // namespace rung
