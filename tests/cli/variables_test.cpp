// Environment variables with a value that cannot be used: one line on standard error, once.

#include <gtest/gtest.h>

#include "program.hpp"

namespace rung {
namespace {

struct Ignored {
  const char* setting;
  const char* command;
  const char* says;  // how the line begins
};

TEST(Variables, AValueThatCannotBeUsedIsReportedOnce) {
  for (const Ignored& ignored :
       {Ignored{"RUNG_ISA=bogus", "verify gemm/cpu/05 dot/cpu/02 --sizes 3x3x3 --dtype f32",
                "rung: RUNG_ISA: 'bogus' is no instruction set of this CPU, which has scalar"},
        Ignored{"RUNG_ISA='a\nb'", "verify gemm/cpu/05 --sizes 3x3x3 --dtype f32",
                "rung: RUNG_ISA: 'a?b' is no instruction set of this CPU, which has scalar"},
        Ignored{"RUNG_PEERS=/nowhere", "doctor",
                "rung: RUNG_PEERS: '/nowhere' is no folder; peers of the system are used"}}) {
    const Output output = run_shell(std::string(ignored.setting) + " \"$RUNG\" " + ignored.command);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_EQ(output.err.find(ignored.says), 0u) << output.err;
    EXPECT_EQ(lines(output.err).size(), 1u) << output.err;
  }
}

TEST(Variables, AnEmptyValueIsNone) {
  const Output output =
      run_shell("RUNG_ISA= \"$RUNG\" verify gemm/cpu/05 --sizes 3x3x3 --dtype f32");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.err, "");
}

}  // namespace
}  // namespace rung
