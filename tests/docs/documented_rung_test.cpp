// The rung that docs/contributing.md adds computes correct results, and its header comment is
// valid.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "../cpu_dtypes.hpp"
#include "core/rung.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "device/cpu/rung.hpp"
#include "rung/types.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_99_four_rows;

namespace {

TEST(DocumentedRung, IsRight) {
  for (const Dtype dtype : cpu_dtypes) {
    for (const GemmSpec& spec : standard_gemm_cases(dtype, Effort::quick)) {
      GemmCase problem(spec);
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
          gemm_cpu_99_four_rows.function<In, Out>()(call.typed<In, Out>(), 1);
        });
      });
      EXPECT_TRUE(verdict.right) << verdict.message;
    }
  }
}

TEST(DocumentedRung, HasAHeaderComment) {
  std::ifstream file(RUNG_DOCUMENTED);
  const std::string source(std::istreambuf_iterator<char>(file), {});
  const RungInfo rung = parse_rung("gemm/cpu/99_four_rows", source);
  EXPECT_EQ(rung.from, "01_loop_order");
}

}  // namespace
}  // namespace rung
