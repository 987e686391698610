#pragma once
// Functions by which a test controls the fake cuBLAS: C functions, found by name.

/// Sets the status that every product returns from now on; 0 for success.
using FakeSetStatus = void(int status);  // fake_set_status
/// The latest math mode.
using FakeMathMode = int();  // fake_math_mode
/// The number of runs of an algorithm.
using FakeAlgorithmRuns = int(int index);  // fake_algorithm_runs
