// Random calls of the library's entry points on the virtual GPU, with operands that exactly fill
// allocations of their own, at any alignment:
//   cuda_library_fuzz [--cases N] [--seed S] [--first I]
// A call must return the host's result bit for bit, or be rejected in one line. A failure prints
// the command that repeats it.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../library/cuda/any_call.hpp"
#include "library/cuda/driver.hpp"
#include "random_problems.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung {
namespace {

using cuda::AnyCall, cuda::Entry;

struct Types {
  rung_dtype a, b, c;
};

rung_dtype sums_of(rung_dtype type) {
  switch (type) {
    case RUNG_DTYPE_F64: return RUNG_DTYPE_F64;
    case RUNG_DTYPE_I32:
    case RUNG_DTYPE_I8: return RUNG_DTYPE_I32;
    default: return RUNG_DTYPE_F32;
  }
}

bool is_16_bits(rung_dtype type) { return type == RUNG_DTYPE_BF16 || type == RUNG_DTYPE_F16; }

Types random_types(Draws& draws, Entry entry) {
  const auto type = static_cast<rung_dtype>(draws.below(RUNG_DTYPE_E5M2 + 1));
  const bool is_rounded = draws.one_in(2);
  switch (entry) {
    case Entry::mixed:
      if (is_rounded) return {RUNG_DTYPE_BF16, RUNG_DTYPE_F32, RUNG_DTYPE_F32};
      return {RUNG_DTYPE_F32, RUNG_DTYPE_BF16, RUNG_DTYPE_F32};
    case Entry::weight_only: {
      const rung_dtype a = draws.one_in(2) ? RUNG_DTYPE_BF16 : RUNG_DTYPE_F16;
      return {a, RUNG_DTYPE_I8, is_rounded ? a : RUNG_DTYPE_F32};
    }
    case Entry::block_scaled:
    case Entry::block_scaled_groups:
      return {RUNG_DTYPE_E4M3, RUNG_DTYPE_E4M3, is_rounded ? RUNG_DTYPE_BF16 : RUNG_DTYPE_F32};
    case Entry::parts: {
      const rung_dtype a = is_rounded ? RUNG_DTYPE_BF16 : RUNG_DTYPE_F16;
      return {a, a, a};
    }
    case Entry::dot: {
      constexpr std::array types = {RUNG_DTYPE_F32, RUNG_DTYPE_F64, RUNG_DTYPE_BF16,
                                    RUNG_DTYPE_F16};
      const rung_dtype a = draws.pick(types);
      return {a, a, sums_of(a)};
    }
    default: return {type, type, is_16_bits(type) && is_rounded ? type : sums_of(type)};
  }
}

std::int64_t random_extent(Draws& draws) {
  if (draws.one_in(40)) return 0;
  return draws.between(1, draws.pick(std::array<std::int64_t, 6>{2, 9, 17, 33, 70, 140}));
}

cuda::Layout random_layout(Draws& draws) {
  cuda::Layout layout = {.by_columns = draws.one_in(2)};
  if (draws.one_in(3)) layout.padding = draws.between(1, 17);
  if (draws.one_in(2)) layout.shift = draws.between(1, 17);
  if (draws.one_in(3)) layout.gap = draws.between(1, 33);
  return layout;
}

AnyCall random_call(Draws& draws) {
  AnyCall call = {.entry = cuda::entries[draws.below(std::size(cuda::entries))]};
  const Types types = random_types(draws, call.entry);
  call.a = types.a;
  call.b = types.b;
  call.c = types.c;
  call.m = random_extent(draws);
  call.n = random_extent(draws);
  call.k = call.entry == Entry::weight_only ? 64 * draws.below(5) : random_extent(draws);
  if (draws.one_in(12) && call.k > 0) call.k += 1024;
  call.count = draws.one_in(20) ? 0 : draws.between(1, draws.one_in(40) ? 600 : 5);
  if (call.count > 5) call.m = call.n = call.k = draws.between(1, 9);
  call.of_a = random_layout(draws);
  call.of_b = random_layout(draws);
  call.of_c = random_layout(draws);
  if (draws.one_in(3)) call.of_a.shift = call.of_b.shift = call.of_c.shift = 0;
  const bool needs_rows = call.entry == Entry::groups_of_rows ||
                          call.entry == Entry::block_scaled ||
                          call.entry == Entry::block_scaled_groups;
  if (needs_rows && !draws.one_in(20)) call.of_c.by_columns = false;
  if (call.entry == Entry::parts && !draws.one_in(4)) {  // its tiles need rows of 16 bytes
    call.n = 8 * draws.between(1, 20);
    call.k = 8 * draws.between(1, 20);
    for (cuda::Layout* const layout : {&call.of_a, &call.of_b, &call.of_c}) {
      layout->padding = layout->shift = 8 * draws.below(3);
    }
    call.of_a.by_columns = call.of_c.by_columns = false;
  }
  if (call.entry == Entry::dot && draws.one_in(4)) call.k = draws.between(1, 100'000);
  call.shares_b = draws.one_in(6);
  call.alpha = draws.one_in(12) ? 0 : static_cast<int>(draws.between(-2, 3));
  call.beta = draws.one_in(2) ? 0 : static_cast<int>(draws.between(-2, 2));
  if (draws.one_in(3)) call.compute_mode = static_cast<int>(draws.below(4));
  if (draws.one_in(3)) call.multiprocessors = static_cast<int>(draws.between(1, 20));
  if (draws.one_in(3)) {
    constexpr std::array<std::int64_t, 6> bytes = {1, 255, 4097, 40'003, 1'000'003, 3'000'001};
    call.workspace_bytes = draws.pick(bytes);
  }
  call.seed = draws.bits() >> 8;
  return call;
}

/// The primary context of the virtual GPU. A context in which work has failed cannot be used again.
class OwnContext {
 public:
  OwnContext() {
    api_.cuInit(0);
    api_.cuDevicePrimaryCtxRetain(&context_, 0);
    api_.cuCtxSetCurrent(context_);
  }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  ~OwnContext() {
    api_.cuCtxSetCurrent(nullptr);
    api_.cuDevicePrimaryCtxReset(0);
    api_.cuDevicePrimaryCtxRelease(0);
  }

 private:
  const cuda::DriverApi& api_ = vgpu::virtual_driver();
  cuda::Context context_ = nullptr;
};

/// Describes what is wrong with a call; empty if the result is right, or if it was rejected
/// correctly.
std::string wrong_with(const AnyCall& call, const std::string& hazards, bool& is_refused) {
  const cuda::Outcome outcome = cuda::run(vgpu::virtual_driver(), call);
  is_refused = outcome.status != RUNG_OK;
  if (!outcome.wrong.empty()) return outcome.wrong;
  if (!hazards.empty()) return hazards;
  if (!is_refused) return "";
  const bool is_known =
      outcome.status == RUNG_INVALID_ARGUMENT || outcome.status == RUNG_UNAVAILABLE;
  const bool is_line =
      outcome.message.starts_with("rung: ") && outcome.message.find('\n') == std::string::npos;
  return is_known && is_line ? ""
                             : fmt::format("status {}: {}", int{outcome.status}, outcome.message);
}

struct Options {
  std::uint64_t cases = 200, seed = 1, first = 0;
};

Options parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i], text = arguments[i + 1];
    std::uint64_t* const value = name == "--cases"   ? &options.cases
                                 : name == "--seed"  ? &options.seed
                                 : name == "--first" ? &options.first
                                                     : nullptr;
    if (value == nullptr) throw std::runtime_error(fmt::format("unknown option {}", name));
    std::from_chars(text.data(), text.data() + text.size(), *value);
  }
  return options;
}

int fuzz(const Options& options) {
  static const cuda::Driver driver{.api = &vgpu::virtual_driver(), .takes_cubin = false};
  cuda::use_driver(&driver);
  std::string hazards;
  vgpu::set_launch_observer([&](const vgpu::LaunchReport& report, const vgpu::Kernel&) {
    for (const vgpu::Hazard& hazard : report.hazards) hazards = hazard.message;
  });
  auto context = std::make_unique<OwnContext>();
  std::uint64_t failures = 0, refused = 0;
  for (std::uint64_t i = options.first; i < options.first + options.cases; ++i) {
    Draws draws(options.seed, i);
    const AnyCall call = random_call(draws);
    hazards.clear();
    bool is_refused = false;
    const std::string wrong = wrong_with(call, hazards, is_refused);
    refused += is_refused;
    if (wrong.empty()) continue;
    ++failures;
    fmt::print("cuda_library_fuzz --seed {} --first {} --cases 1: {}: {}\n", options.seed, i,
               describe(call), wrong);
    context.reset();
    context = std::make_unique<OwnContext>();
  }
  fmt::print("{} cases, {} refused, {} wrong\n", options.cases, refused, failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rung

int main(int count, char** arguments) {
  try {
    return rung::fuzz(rung::parse(count, arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return EXIT_FAILURE;
  }
}
