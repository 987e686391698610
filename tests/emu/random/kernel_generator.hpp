#pragma once
// Random CUDA programs that know what they have to give.
//
// A kernel is a list of steps. A step is either the text of one thread (ifs, switches, loops, early
// returns, traps that are never reached, calls), or an exchange between threads that have met
// there: a shuffle, a reduction, a ballot, a barrier. The same text is written twice, into a kernel
// and into a plain C++ function that runs each step for one thread after the other. The program
// launches each kernel, calls the function, and prints how many results differ.

#include <cstdint>
#include <string>

namespace rung {

/// The text of a program with this many kernels; the same for the same seed, wherever it runs. It
/// prints "RUNS runs, 0 wrong", or a line for each of the first wrong results.
std::string random_kernels(std::uint64_t seed, int kernels, int runs_of_each);

}  // namespace rung
