// Every entry point of the C interface on a GPU, with every layout of its operands and every
// option: an option is honoured, or refused with a one-line message and no result is written.

#include "any_call.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/dtype_traits.hpp"
#include "fixture.hpp"

namespace rung {
namespace {

using cuda::AnyCall, cuda::Entry, cuda::Outcome;

struct Types {
  rung_dtype a, b, c;
};

bool is_block_scaled(Entry entry) {
  return entry == Entry::block_scaled || entry == Entry::block_scaled_groups;
}

std::vector<Types> types_of(Entry entry) {
  const auto same = [](rung_dtype type, rung_dtype c) { return Types{type, type, c}; };
  if (is_block_scaled(entry)) {
    return {same(RUNG_DTYPE_E4M3, RUNG_DTYPE_F32), same(RUNG_DTYPE_E4M3, RUNG_DTYPE_BF16)};
  }
  if (entry == Entry::mixed) {
    return {{RUNG_DTYPE_BF16, RUNG_DTYPE_F32, RUNG_DTYPE_F32},
            {RUNG_DTYPE_F32, RUNG_DTYPE_BF16, RUNG_DTYPE_F32}};
  }
  if (entry == Entry::parts) {
    return {same(RUNG_DTYPE_BF16, RUNG_DTYPE_BF16), same(RUNG_DTYPE_F16, RUNG_DTYPE_F16)};
  }
  if (entry == Entry::dot) {
    return {same(RUNG_DTYPE_F32, RUNG_DTYPE_F32), same(RUNG_DTYPE_F64, RUNG_DTYPE_F64),
            same(RUNG_DTYPE_BF16, RUNG_DTYPE_F32), same(RUNG_DTYPE_F16, RUNG_DTYPE_F32)};
  }
  if (entry == Entry::weight_only) {
    return {{RUNG_DTYPE_BF16, RUNG_DTYPE_I8, RUNG_DTYPE_F32},
            {RUNG_DTYPE_F16, RUNG_DTYPE_I8, RUNG_DTYPE_F16}};
  }
  return {same(RUNG_DTYPE_F32, RUNG_DTYPE_F32), same(RUNG_DTYPE_F64, RUNG_DTYPE_F64),
          same(RUNG_DTYPE_I32, RUNG_DTYPE_I32), same(RUNG_DTYPE_BF16, RUNG_DTYPE_F32),
          same(RUNG_DTYPE_F16, RUNG_DTYPE_F16), same(RUNG_DTYPE_TF32, RUNG_DTYPE_F32),
          same(RUNG_DTYPE_I8, RUNG_DTYPE_I32),  same(RUNG_DTYPE_E4M3, RUNG_DTYPE_F32),
          same(RUNG_DTYPE_E5M2, RUNG_DTYPE_F32)};
}

bool is_8_bits(rung_dtype type) {
  return type == RUNG_DTYPE_I8 || type == RUNG_DTYPE_E4M3 || type == RUNG_DTYPE_E5M2;
}

/// True if the headers document this compute mode for the call.
bool has_mode(const AnyCall& call) {
  const bool is_integer = call.a == RUNG_DTYPE_I32 || call.a == RUNG_DTYPE_I8;
  const bool in_groups = call.entry == Entry::groups_of_rows || call.entry == Entry::groups_of_k;
  if (call.compute_mode == RUNG_COMPUTE_STANDARD || call.entry == Entry::dot) return true;
  if (call.entry == Entry::weight_only) return false;
  if (is_block_scaled(call.entry)) return call.compute_mode == RUNG_COMPUTE_BATCH_INVARIANT;
  if (call.compute_mode == RUNG_COMPUTE_SPLIT || is_integer) return true;
  if (call.entry == Entry::pointers) return false;
  if (call.compute_mode == RUNG_COMPUTE_BATCH_INVARIANT) {
    return !in_groups || call.a != RUNG_DTYPE_F64;
  }
  return call.entry == Entry::mixed || (call.a == RUNG_DTYPE_F32 && !in_groups);
}

class CudaAnyCall : public CudaLibrary {
 protected:
  Outcome run(const AnyCall& call) {
    const Outcome outcome = cuda::run(api, call);
    EXPECT_EQ(outcome.wrong, "") << describe(call);
    EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
    EXPECT_EQ(outcome.status == RUNG_OK, outcome.message.empty());
    return outcome;
  }

  static AnyCall call_of(Entry entry, const Types& types) {
    AnyCall call = {.entry = entry, .a = types.a, .b = types.b, .c = types.c};
    call.m = 21;
    call.n = 24;
    call.k = entry == Entry::weight_only ? 64 : 40;
    call.beta = 2;
    call.of_b.by_columns = true;
    return call;
  }
};

TEST_F(CudaAnyCall, HasEveryLayoutOfEveryOperand) {
  for (const Entry entry : cuda::entries) {
    for (const Types& types : types_of(entry)) {
      AnyCall call = call_of(entry, types);
      const bool has_kernel = entry != Entry::pointers || !is_8_bits(call.a);
      const bool needs_rows = entry == Entry::groups_of_rows || is_block_scaled(entry);
      for (int layout = 0; layout < 8; ++layout) {
        call.of_a.by_columns = (layout & 1) != 0;
        call.of_b.by_columns = (layout & 2) != 0;
        call.of_c.by_columns = (layout & 4) != 0;
        call.of_b.shift = layout % 3;
        call.seed = static_cast<std::uint64_t>(layout + 1);
        const bool is_right = has_kernel && !(needs_rows && call.of_c.by_columns);
        const Outcome outcome = run(call);
        if (entry == Entry::parts) continue;  // its tiles need rows of 16 bytes
        EXPECT_EQ(outcome.status == RUNG_OK, is_right) << describe(call);
      }
    }
  }
}

TEST_F(CudaAnyCall, HonoursOrRefusesEveryMode) {
  for (const Entry entry : cuda::entries) {
    for (const Types& types : types_of(entry)) {
      AnyCall call = call_of(entry, types);
      if (entry == Entry::pointers && is_8_bits(call.a)) continue;
      for (call.compute_mode = 0; call.compute_mode < 5; ++call.compute_mode) {
        const Outcome outcome = run(call);
        const bool is_known = call.compute_mode < 4;
        const rung_status expected = !is_known        ? RUNG_INVALID_ARGUMENT
                                     : has_mode(call) ? RUNG_OK
                                                      : RUNG_UNAVAILABLE;
        EXPECT_EQ(outcome.status, expected) << describe(call) << " " << outcome.message;
      }
    }
  }
}

// Such reads by a kernel would fault and end the context.
TEST_F(CudaAnyCall, RefusesOperandsBetweenTwoElements) {
  for (const Entry entry : cuda::entries) {
    // Only the device has the addresses of a pointer batch; parts need rows of 16 bytes anyway.
    if (entry == Entry::pointers || entry == Entry::parts) continue;
    AnyCall call = call_of(entry, types_of(entry).front());
    for (const char operand : {'a', 'b', 'c'}) {
      const bool has_bytes = is_block_scaled(entry) && operand != 'c';
      if (has_bytes || (entry == Entry::weight_only && operand == 'b')) continue;
      call.skewed = operand;
      const Outcome outcome = run(call);
      EXPECT_EQ(outcome.status, RUNG_INVALID_ARGUMENT) << describe(call);
      EXPECT_NE(outcome.message.find("an operand begins at an address of 1 modulo"),
                std::string::npos)
          << outcome.message;
    }
  }
}

// Any workspace size is sufficient, or is refused with the size that would be.
TEST_F(CudaAnyCall, MakesDoWithAnyWorkspaceAndAnySms) {
  for (const Entry entry : cuda::entries) {
    for (const Types& types : types_of(entry)) {
      AnyCall call = call_of(entry, types);
      if (entry == Entry::pointers && is_8_bits(call.a)) continue;
      for (const std::int64_t bytes : {1, 4097, 2'000'003}) {
        call.workspace_bytes = bytes;
        call.multiprocessors = static_cast<int>(bytes % 4);
        call.of_a.by_columns = bytes % 3 == 0;
        cuda::driver_calls().clear();
        const Outcome outcome = run(call);
        EXPECT_EQ(cuda::driver_calls()["cuMemAllocFromPoolAsync"], 0) << describe(call);
        if (outcome.status == RUNG_OK) continue;
        EXPECT_LT(bytes, 2'000'003) << describe(call) << outcome.message;
        if (entry == Entry::parts) continue;  // returns false without a message
        EXPECT_EQ(outcome.status, RUNG_INVALID_ARGUMENT);
        EXPECT_NE(outcome.message.find("workspace has"), std::string::npos) << outcome.message;
      }
    }
  }
}

}  // namespace
}  // namespace rung
