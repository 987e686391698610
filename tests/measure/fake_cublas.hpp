#pragma once
// What a test asks of the fake cuBLAS: C functions, to be found by name.

/// The status that every product returns from now on; 0: success.
using FakeSetStatus = void(int status);  // fake_set_status
/// The latest math mode.
using FakeMathMode = int();  // fake_math_mode
/// How often an algorithm was run.
using FakeAlgorithmRuns = int(int index);  // fake_algorithm_runs
