#include "cpu_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "command.hpp"
#include "core/case.hpp"
#include "core/temporary_folder.hpp"
#include "device/cpu/machine.hpp"
#include "emu/compile/link/device_code.hpp"
#include "own_command.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/report/table.hpp"

// The profiler finds it by this name, also in a program without other symbols.
extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]] void rung_counted_calls(
    const rung::BoundCall* batch, std::int64_t calls) {
  batch->run(calls);
}

namespace rung {
namespace {

using analysis::CallgrindCosts;

constexpr const char* counted_function = "rung_counted_calls";

/// Work that valgrind executes in a few seconds. The first value is for a rung without SIMD.
constexpr std::int64_t first_multiply_adds = std::int64_t{1} << 24,
                       max_multiply_adds = std::int64_t{1} << 27, max_elements = 1 << 21;
constexpr double max_instructions = 6e7;

double multiply_adds(const SizeArgument& size, bool is_gemm) {
  return is_gemm ? static_cast<double>(size.m) * static_cast<double>(size.n) *
                       static_cast<double>(size.k)
                 : static_cast<double>(size.n);
}

SizeArgument sample_of(SizeArgument size, bool is_gemm, std::int64_t most) {
  if (!is_gemm) {
    size.n = std::min(size.n, max_elements);
    return size;
  }
  while (multiply_adds(size, is_gemm) > static_cast<double>(most)) {
    std::int64_t* longest = &size.m;
    if (size.n > *longest) longest = &size.n;
    if (size.k > *longest) longest = &size.k;
    *longest = (*longest + 1) / 2;
  }
  return size;
}

std::string counts_table(const CallgrindCosts& all, double products) {
  const cpu::Caches& caches = cpu::machine().caches;
  Table table({"counted", "all", "per 1000 multiply-adds"});
  const auto add = [&](const std::string& what, double count) {
    table.add_row({what, format_count(static_cast<std::uint64_t>(count)),
                   format_rate(1000 * count / products)});
  };
  add("instructions", all.instructions);
  add("loads", all.loads);
  add("stores", all.stores);
  add(fmt::format("L1 misses ({} KiB), lines of 64 bytes", caches.l1 >> 10), all.l1_misses);
  add(fmt::format("L2 misses ({} KiB)", caches.l2 >> 10), all.l2_misses);
  return table.str();
}

std::string mix_table(const analysis::InstructionMix& mix) {
  constexpr double least = 0.005;  // of all
  Table table({"instructions", "share"});
  for (const analysis::MixPart& part : mix.parts) {
    if (part.count < least * mix.all) continue;
    table.add_row({part.name, fmt::format("{:.1f}%", 100 * part.count / mix.all)});
  }
  return table.str();
}

/// "N_AVX2::tile" of "void rung::cpu::N_AVX2::tile<float>(long, …)": the last two names.
std::string short_name(std::string name) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  if (const std::size_t at = name.find(unnamed); at != name.npos) name.erase(at, unnamed.size());
  name = name.substr(0, name.find_first_of("<("));
  name = name.substr(name.rfind(' ') + 1);
  const std::size_t last = name.rfind("::");
  if (last == name.npos || last == 0) return name;
  const std::size_t before = name.rfind("::", last - 1);
  return before == name.npos ? name : name.substr(before + 2);
}

std::string functions_table(const analysis::CallgrindProfile& profile) {
  constexpr double least = 0.03;
  constexpr std::size_t most = 5, name_width = 52;
  Table table({"where", "instructions", "L1 misses"});
  const CallgrindCosts& all = profile.all;
  for (std::size_t i = 0; i < std::min(most, profile.functions.size()); ++i) {
    const auto& [name, costs] = profile.functions[i];
    if (costs.instructions < least * all.instructions) break;
    table.add_row({cut(short_name(name), name_width),
                   fmt::format("{:.0f}%", 100 * costs.instructions / all.instructions),
                   fmt::format("{:.0f}%", 100 * costs.l1_misses / std::max(1.0, all.l1_misses))});
  }
  return table.str();
}

Json json_of(const CallgrindCosts& costs) {
  return {{"instructions", costs.instructions},
          {"loads", costs.loads},
          {"stores", costs.stores},
          {"l1_misses", costs.l1_misses},
          {"l2_misses", costs.l2_misses}};
}

BoundCall bind(const Backend& backend, const RungInfo& rung, GemmCase& problem) {
  const GemmCall call = problem.call();
  if (const auto reason = backend.why_not(rung, call)) throw UnavailableError(*reason);
  return backend.bind(rung, call, 1);
}

BoundCall bind(const Backend& backend, const RungInfo& rung, DotCase& problem, double* result) {
  const DotCall call = problem.call();
  if (const auto reason = backend.why_not(rung, call)) throw UnavailableError(*reason);
  return backend.bind(rung, call, 1, result);
}

CountedCall counted_call(const std::string& valgrind, const RungInfo& rung, Dtype dtype,
                         const SizeArgument& size) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "profile").string();
  const cpu::Caches& caches = cpu::machine().caches;
  const analysis::ToolOutput run = analysis::run_tool(
      analysis::callgrind_command(valgrind, {caches.l1, caches.l2}, counted_function, out,
                                  own_command("explain", rung, dtype, size, {"--calls", "1"})));
  CountedCall counted;
  if (run.exit_code == 0) counted.profile = analysis::parse_callgrind(emu::read_file(out));
  if (counted.profile.all.instructions == 0) {
    throw std::runtime_error("valgrind could not count it: " +
                             run.errors.substr(0, run.errors.find('\n')));
  }
  counted.size = size;
  counted.isa = run.text.substr(0, run.text.find('\n'));
  return counted;
}

void count(const BoundCall& batch, std::int64_t calls) {
  batch.run(1);
  rung_counted_calls(&batch, calls);
}

}  // namespace

void call_for_a_profiler(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                         std::int64_t calls) {
  const Backend& backend = *find_backend("cpu");
  if (rung.op == "gemm") {
    GemmSpec spec;
    spec.dtype = dtype;
    spec.m = size.m;
    spec.n = size.n;
    spec.k = size.k;
    GemmCase problem(spec);
    count(bind(backend, rung, problem), calls);
  } else {
    DotSpec spec;
    spec.dtype = dtype;
    spec.n = size.n;
    spec.sum = rung.op == "sum";
    DotCase problem(spec);
    double result = 0;  // room for any type
    count(bind(backend, rung, problem, &result), calls);
  }
  fmt::print("{}\n", cpu::name(cpu::machine().isa));
}

std::optional<CountedCall> count_call(const RungInfo& rung, Dtype dtype, const SizeArgument& size,
                                      std::string& why_not) {
  const std::string valgrind = analysis::find_tool("valgrind");
  if (valgrind.empty()) {
    why_not = "install valgrind (and binutils, for objdump)";
    return std::nullopt;
  }
  const bool is_gemm = rung.op == "gemm";
  try {
    CountedCall counted =
        counted_call(valgrind, rung, dtype, sample_of(size, is_gemm, first_multiply_adds));
    // With SIMD there is time for a product whose operands no L2 holds.
    const SizeArgument larger = sample_of(size, is_gemm, max_multiply_adds);
    const double growth = multiply_adds(larger, is_gemm) / multiply_adds(counted.size, is_gemm);
    if (growth > 1 && counted.profile.all.instructions * growth < max_instructions) {
      counted = counted_call(valgrind, rung, dtype, larger);
    }
    counted.mix = analysis::x86_mix(counted.profile);
    return counted;
  } catch (const std::runtime_error& error) {
    why_not = error.what();
    return std::nullopt;
  }
}

std::string CountedCall::text(const RungInfo& rung) const {
  const bool is_gemm = rung.op == "gemm";
  const double products = multiply_adds(size, is_gemm);
  const std::string_view here = cpu::name(cpu::machine().isa);
  const std::string sample =
      is_gemm ? fmt::format("{}x{}x{}", size.m, size.n, size.k) : fmt::format("{}", size.n);
  std::string text =
      wrap(fmt::format(
               "counted by valgrind in one call on one thread: {}, warm operands, kernels of {}{}",
               sample, isa, isa == here ? "" : fmt::format(" (valgrind has no {})", here)),
           0);
  text += "\n" + counts_table(profile.all, products);
  if (mix && mix->multiply_adds > 0) {
    text += fmt::format(
        "\na multiply-add instruction does {:.3g} multiply-adds; {:.3g} for each load\n",
        products / mix->multiply_adds, mix->multiply_adds / std::max(1.0, mix->loads));
  }
  text += mix ? "\n" + mix_table(*mix) : "\ninstruction mix: install objdump (binutils)\n";
  return text + "\n" + functions_table(profile);
}

Json CountedCall::json() const {
  Json json = {{"m", size.m}, {"n", size.n}, {"k", size.k}, {"isa", isa}};
  json.update(json_of(profile.all));
  json["functions"] = Json::array();
  for (const auto& [name, costs] : profile.functions) {
    Json function = {{"name", name}};
    function.update(json_of(costs));
    json["functions"].push_back(std::move(function));
  }
  json["mix"] = Json::object();
  if (mix) {
    for (const analysis::MixPart& part : mix->parts) json["mix"][part.name] = part.count;
  }
  return json;
}

}  // namespace rung
