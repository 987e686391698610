// Runs the tests of rungs, under the instruction set of RUNG_ISA if the CPU has it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "device/cpu/machine.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  testing::InitGoogleTest(&argc, argv);
  const char* wish = std::getenv("RUNG_ISA");
  if (wish != nullptr && rung::cpu::name(rung::cpu::machine().isa) != wish) {
    std::cout << "skipped: this CPU does not run " << wish << '\n';
    return skipped;
  }
  return RUN_ALL_TESTS();
}
