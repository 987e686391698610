// CPU grouped products: one product after another, each shared by the threads.

#include "library/gemm_grouped.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/batch.hpp"
#include "library/check_overlap.hpp"
#include "library/gemm.hpp"
#include "library/gemm_batched.hpp"
#include "library/mode_environment.hpp"
#include "library/public_types.hpp"
#include "rung/error.hpp"
#include "rung/grouped.hpp"

namespace rung {
namespace {

std::string text(std::int64_t value) { return std::to_string(value); }

std::string shape(std::int64_t rows, std::int64_t cols) { return text(rows) + " x " + text(cols); }

[[noreturn]] void fail(const std::string& message) {
  throw Error(Status::invalid_argument, "rung: gemm_grouped: " + message);
}

template <class A, class B, class S, class C>
void run(S alpha, const A& a, const B& b, S beta, const C& c, const std::int32_t* offsets,
         const GemmOptions& options) {
  check::threads("gemm_grouped", options.threads);
  check::compute_mode("gemm_grouped", options.compute_mode);
  cpu::gemm_grouped(canonical(alpha, a, b, beta, c, offsets), options);
}

}  // namespace

void check::fail_group_shapes(const char* shapes, std::int64_t a_rows, std::int64_t a_cols,
                              std::int64_t b_rows, std::int64_t b_cols, std::int64_t c_rows,
                              std::int64_t c_cols) {
  fail("A is " + shape(a_rows, a_cols) + ", B is " + shape(b_rows, b_cols) + ", C is " +
       shape(c_rows, c_cols) + "; they must be " + shapes);
}

void check::fail_group_pointers(const char* matrix) {
  throw Error(Status::invalid_argument,
              "rung: " + std::string(matrix) + " is an array of pointers; it must be strided");
}

void check::fail_group_order() { fail("C is column-major; it must be row-major"); }

void check::fail_groups(const char* what, std::int64_t value) {
  fail("there are " + text(value) + " " + what + "; at most 2147483647 are allowed");
}

void check::fail_no_offsets(std::int64_t count) {
  fail("offsets is null; it must point to " + text(count + 1) + " offsets");
}

void check::offsets(const GroupedCall& grouped) {
  const auto& [call, groups] = grouped;
  const std::int64_t most = groups.cuts_k ? call.k : call.m;
  std::int64_t before = 0;
  for (std::int64_t i = 0; i <= call.batch; ++i) {
    const std::int64_t offset = groups.offsets[i];
    if (offset < before || offset > most) {
      fail("offset " + text(i) + " is " + text(offset) + "; it must be from " + text(before) +
           (i == 0 ? "" : ", the one before,") + " to " + text(most));
    }
    before = offset;
  }
}

namespace {

/// The extents of the largest group.
GemmCall largest_group(const GroupedCall& grouped) {
  GemmCall largest = grouped.call;
  std::int64_t& size = grouped.groups.cuts_k ? largest.k : largest.m;
  size = 0;
  for (std::int64_t i = 0; i < grouped.call.batch; ++i) {
    const GemmCall one = group_of(grouped, i);
    size = std::max(size, grouped.groups.cuts_k ? one.k : one.m);
  }
  return largest;
}

}  // namespace

void cpu::gemm_grouped(const CanonicalGroups& canonical, const GemmOptions& options) {
  const auto environment = environment_of(options.compute_mode);
  const GroupedCall& grouped = canonical.grouped;
  check::has_mode(grouped.call.dtype, options.compute_mode);
  if (grouped.call.batch == 0) return;
  if (has_no_cut_k(canonical)) return gemm_batched(without_groups(canonical), options);
  check::offsets(grouped);
  if (canonical.multiplies) check::apart("gemm_grouped", grouped.call);
  const Products products({largest_group(grouped), canonical.a, canonical.b, canonical.multiplies},
                          options);
  for (std::int64_t i = 0; i < grouped.call.batch; ++i) {
    const GemmCall one = group_of(grouped, i);
    const bool multiplies = canonical.multiplies && one.m > 0 && one.k > 0;
    products.run({one, canonical.a, canonical.b, multiplies});
  }
}

#define RUNG_DEFINE_GROUPED(suffix, In, Out, InC, OutC)                                       \
  void gemm_grouped(Scalar<Out> alpha, const MatrixView<const In>& a,                         \
                    const BatchView<const In>& b, Scalar<Out> beta, const MatrixView<Out>& c, \
                    const std::int32_t* offsets, const GemmOptions& options) {                \
    run(alpha, a, b, beta, c, offsets, options);                                              \
  }                                                                                           \
  void gemm_grouped(Scalar<Out> alpha, const MatrixView<const In>& a,                         \
                    const MatrixView<const In>& b, Scalar<Out> beta, const BatchView<Out>& c, \
                    const std::int32_t* offsets, const GemmOptions& options) {                \
    run(alpha, a, b, beta, c, offsets, options);                                              \
  }
RUNG_CPU_GROUPED_TYPES(RUNG_DEFINE_GROUPED)
#undef RUNG_DEFINE_GROUPED

}  // namespace rung
