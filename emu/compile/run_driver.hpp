#pragma once
// The frame of a compiler driver such as rung-nvcc.

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"

namespace rung::emu {

/// Runs the body of a driver, with signals held. Prints errors after the driver's name, and returns the exit
/// code: 1, or 3 if a tool is missing.
template <class Body>
int run_driver(const char* name, const Body& body) {
  try {
    return with_signals_held(body);
  } catch (const CompileError& error) {
    if (*error.what() != '\0') fmt::print(stderr, "{}: {}\n", name, error.what());
  } catch (const MissingTool& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
  }
  return 1;
}

}  // namespace rung::emu
