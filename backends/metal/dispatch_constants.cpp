#include "backends/metal/dispatch_constants.hpp"

#include <fmt/format.h>

#include <array>
#include <regex>
#include <stdexcept>

#include "core/integers.hpp"

namespace rung::metal {
namespace {

constexpr const char* dispatch_symbol = "rung_dispatch";
constexpr std::array<const char*, 7> constant_names = {
    "BM", "BN", "THREADS", "THREADS_X", "THREADS_Y", "TERMS", "THREADGROUPS"};
static_assert(sizeof(DispatchConstants) == constant_names.size() * sizeof(std::int64_t));

std::int64_t positive_constant(const char* name, std::int64_t value) {
  if (value > 0) return value;
  throw std::invalid_argument(fmt::format("{} is {}; it must be positive", name, value));
}

std::string without_comments(std::string_view source) {
  static const std::regex comment(R"(//[^\n]*|/\*[^*]*\*+([^/*][^*]*\*+)*/)");
  return std::regex_replace(std::string(source), comment, " ");
}

}  // namespace

Launch DispatchConstants::of_vector(std::int64_t n) const {
  const std::int64_t threads = THREADS == 0 ? 256 : positive_constant("THREADS", THREADS);
  const std::int64_t terms = TERMS == 0 ? threads : positive_constant("TERMS", TERMS);
  const std::int64_t groups =
      THREADGROUPS == 0 ? ceil_div(n, terms) : positive_constant("THREADGROUPS", THREADGROUPS);
  return {{groups, 1, 1}, {threads, 1, 1}, {}};
}

Launch DispatchConstants::of_matrix(std::int64_t m, std::int64_t n) const {
  if ((THREADS_X != 0) != (THREADS_Y != 0) || (BM != 0) != (BN != 0)) {
    throw std::invalid_argument("THREADS_X and THREADS_Y go together, and so do BM and BN");
  }
  Size3 threads = {16, 16, 1};
  if (THREADS_X != 0) {
    threads = {positive_constant("THREADS_X", THREADS_X), positive_constant("THREADS_Y", THREADS_Y),
               1};
  } else if (THREADS != 0) {
    threads = {positive_constant("THREADS", THREADS), 1, 1};
  } else if (BM != 0) {
    throw std::invalid_argument(
        "BM and BN need the number of threads of a threadgroup: a constant THREADS, or THREADS_X "
        "and THREADS_Y");
  }
  if (BM == 0) return {{ceil_div(n, threads.x), ceil_div(m, threads.y), 1}, threads, {}};
  return {{ceil_div(n, positive_constant("BN", BN)), ceil_div(m, positive_constant("BM", BM)), 1},
          threads,
          {}};
}

std::string constants_text(std::string_view source) {
  const std::string code = without_comments(source);
  std::string values;
  for (const char* name : constant_names) {
    const bool has = std::regex_search(code, std::regex(fmt::format("\\b{}\\b", name)));
    values += has ? fmt::format("static_cast<long>({}), ", name) : "0, ";
  }
  return fmt::format("extern \"C\" device const long {}[] = {{{}}};\n", dispatch_symbol, values);
}

DispatchConstants read_constants(const vgpu::Module& module, const vgpu::DeviceMemory& memory) {
  DispatchConstants constants = {};
  const auto values = module.global(dispatch_symbol);
  if (values) memory.read(&constants, values->address, sizeof constants);
  return constants;
}

}  // namespace rung::metal
