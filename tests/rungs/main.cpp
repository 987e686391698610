// Runs the tests of rungs, under the instruction set RUNG_ISA if the CPU has it and a further one.
// Otherwise, the tests without RUNG_ISA already cover it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "device/cpu/machine.hpp"

namespace {

/// True if the CPU has nothing beyond the set to which machine() was restricted.
bool is_whole_set(const char* wish) {
  const rung::cpu::Isa restricted = rung::cpu::machine().isa;
  unsetenv("RUNG_ISA");
  const bool whole = rung::cpu::find_isa() == restricted;
  setenv("RUNG_ISA", wish, 1);
  return whole;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  testing::InitGoogleTest(&argc, argv);
  const char* wish = std::getenv("RUNG_ISA");
  if (wish != nullptr && rung::cpu::name(rung::cpu::machine().isa) != wish) {
    std::cout << "skipped: this CPU does not run " << wish << '\n';
    return skipped;
  }
  if (wish != nullptr && is_whole_set(wish)) {
    std::cout << "skipped: " << wish << " is what the tests without RUNG_ISA run\n";
    return skipped;
  }
  return RUN_ALL_TESTS();
}
