// Compares the bits that random PTX kernels produce, and approximate instructions for many
// arguments, under every instruction set of this CPU: with and without checks, in machine code and
// by handlers, and with a plain C++ reference where there is one.
//   ptx_differential [--cases N] [--seed S] [--arguments N] [--print]
// The program starts itself with `--lines` once per instruction set (RUNG_ISA) and compares the
// lines. `--print` prints the kernels instead.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fnv1a.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/tests/fuzz/ptx_kernels.hpp"
#include "vgpu/tests/fuzz/ptx_reference.hpp"

namespace {

using namespace rung::vgpu;
using Bytes = std::vector<std::uint8_t>;

struct Wishes {
  std::uint64_t cases = 500, seed = 1, arguments = 4096;
  bool lines = false, print = false;
};

[[noreturn]] void fail(const std::string& what, const std::string& text) {
  const char* const isa = std::getenv("RUNG_ISA");
  fmt::print(stderr, "RUNG_ISA={}: {}\n{}", isa == nullptr ? "" : isa, what, text);
  std::exit(1);
}

class Runner {
 public:
  /// Runs the kernel `k` of the module in each mode, and returns the bytes that it stores.
  Bytes run(const std::string& text, const Bytes& input, std::size_t output_bytes, Dim3 grid,
            Dim3 block) {
    const std::uint64_t in = memory_.allocate(input.size());
    memory_.write(in, input.data(), input.size());
    const std::uint64_t out = memory_.allocate(output_bytes);
    const auto module = load(text);
    Bytes first;
    for (const bool observe : {false, true}) {
      for (const bool native : {false, true}) {
        LaunchOptions options;
        options.grid = grid;
        options.block = block;
        options.observe = observe;
        options.native = native;
        options.threads = 1;
        memory_.fill(out, 0, 1, output_bytes);
        const std::array<std::uint64_t, 2> parameters = {in, out};
        const LaunchReport report = launch(*module->kernel("k"), options,
                                           std::as_bytes(std::span(parameters)), memory_, device_);
        if (!report.hazards.empty()) fail(report.hazards.front().message, text);
        Bytes result(output_bytes);
        memory_.read(result.data(), out, output_bytes);
        if (first.empty()) first = result;
        expect_same(first, result,
                    fmt::format("handlers without checks, and {} {} checks",
                                native ? "machine code" : "handlers", observe ? "with" : "without"),
                    text);
      }
    }
    memory_.free(in);
    memory_.free(out);
    return first;
  }

  static void expect_same(const Bytes& one, const Bytes& other, const std::string& what,
                          const std::string& text) {
    const auto [at, found] = std::mismatch(one.begin(), one.end(), other.begin());
    if (at == one.end()) return;
    const auto offset = at - one.begin();
    const auto word = offset / 8 * 8;
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, one.data() + word, 8);
    std::memcpy(&b, other.data() + word, 8);
    fail(fmt::format("{}: at byte {} of thread {}, {:016x} and {:016x}", what,
                     word % PtxKernel::output_bytes, word / PtxKernel::output_bytes, a, b),
         text);
  }

 private:
  std::unique_ptr<Module> load(const std::string& text) {
    try {
      auto module = Module::load(text, "random.ptx", memory_);
      module->kernel("k");
      return module;
    } catch (const std::exception& error) {
      fail(error.what(), text);
    }
  }

  DeviceMemory memory_{std::size_t{1} << 30};
  DeviceDescription device_ = parse_device("h200");
};

/// The FNV-1a hash.
std::uint64_t hash_of(const Bytes& bytes) {
  return rung::fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Bytes by_reference(const PtxKernel& kernel) {
  Bytes output(kernel.input.size());
  for (std::size_t at = 0; at < output.size(); at += PtxKernel::output_bytes) {
    PtxRegisters registers;
    const auto each = [&](const auto& move) {
      std::size_t offset = at;
      const auto part = [&](auto& registers_of_kind) {
        move(&registers_of_kind, offset, sizeof(registers_of_kind));
        offset += sizeof(registers_of_kind);
      };
      part(registers.d);
      part(registers.r);
      part(registers.h);
      part(registers.p);
    };
    each([&](void* to, std::size_t from, std::size_t bytes) {
      std::memcpy(to, kernel.input.data() + from, bytes);
    });
    registers.p &= (1u << PtxKernel::predicates) - 1;
    follow(kernel.steps, registers);
    each([&](const void* from, std::size_t to, std::size_t bytes) {
      std::memcpy(output.data() + to, from, bytes);
    });
  }
  return output;
}

void run_kernels(Runner& runner, const Wishes& wishes) {
  for (std::uint64_t i = wishes.seed; i < wishes.seed + wishes.cases; ++i) {
    const PtxKernel kernel = random_kernel(i);
    const std::string text = fmt::format("// --cases 1 --seed {}\n{}", i, kernel.text);
    const Bytes found = runner.run(text, kernel.input, kernel.input.size(),
                                   {PtxKernel::blocks, 1, 1}, {PtxKernel::threads, 1, 1});
    if (!kernel.steps.empty()) {
      Runner::expect_same(found, by_reference(kernel), "the virtual GPU, and the reference", text);
    }
    fmt::print("{} {:016x}\n", i, hash_of(found));
  }
}

struct Approximation {
  const char* mnemonic;
  int bytes, operands;
};
constexpr Approximation approximations[] = {
    {"sin.approx.f32", 4, 1},       {"sin.approx.ftz.f32", 4, 1},    {"cos.approx.f32", 4, 1},
    {"cos.approx.ftz.f32", 4, 1},   {"lg2.approx.f32", 4, 1},        {"lg2.approx.ftz.f32", 4, 1},
    {"ex2.approx.f32", 4, 1},       {"ex2.approx.ftz.f32", 4, 1},    {"tanh.approx.f32", 4, 1},
    {"rcp.approx.f32", 4, 1},       {"rcp.approx.ftz.f32", 4, 1},    {"sqrt.approx.f32", 4, 1},
    {"sqrt.approx.ftz.f32", 4, 1},  {"rsqrt.approx.f32", 4, 1},      {"rsqrt.approx.ftz.f32", 4, 1},
    {"div.approx.f32", 4, 2},       {"div.approx.ftz.f32", 4, 2},    {"div.full.f32", 4, 2},
    {"div.full.ftz.f32", 4, 2},     {"rcp.approx.ftz.f64", 8, 1},    {"rsqrt.approx.f64", 8, 1},
    {"rsqrt.approx.ftz.f64", 8, 1}, {"ex2.approx.f16", 2, 1},        {"ex2.approx.ftz.bf16", 2, 1},
    {"tanh.approx.f16", 2, 1},      {"tanh.approx.bf16", 2, 1},      {"ex2.approx.f16x2", 4, 1},
    {"tanh.approx.f16x2", 4, 1},    {"ex2.approx.ftz.bf16x2", 4, 1}, {"tanh.approx.bf16x2", 4, 1},
};

std::string text_of(const Approximation& approximation) {
  const int bits = 8 * approximation.bytes;
  return fmt::format(
      ".version 8.7\n.target sm_100a\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{{\n"
      "  .reg .b32 %t, %x; .reg .b64 %in, %out, %at; .reg .b{0} %a, %b, %c;\n"
      "  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
      "  mov.u32 %t, %ctaid.x; mov.u32 %x, %tid.x; mad.lo.u32 %t, %t, 256, %x;\n"
      "  mul.wide.u32 %at, %t, {1}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;\n"
      "  ld.global.b{0} %a, [%in]; ld.global.b{0} %b, [%in+{2}];\n"
      "  {3} %c, %a{4};\n  st.global.b{0} [%out], %c;\n  ret;\n}}\n",
      bits, approximation.bytes, 256 * approximation.bytes, approximation.mnemonic,
      approximation.operands == 2 ? ", %b" : "");
}

void run_approximations(Runner& runner, const Wishes& wishes) {
  constexpr unsigned threads = 256;
  const std::uint64_t blocks = (wishes.arguments + threads - 1) / threads;
  for (const Approximation& approximation : approximations) {
    std::mt19937_64 random(wishes.seed);
    const auto bytes = static_cast<std::size_t>(approximation.bytes);
    Bytes input((blocks + 1) * threads * bytes);
    for (std::size_t at = 0; at < input.size(); at += bytes) {
      const std::uint64_t value = edge_value(random, approximation.bytes);
      std::memcpy(input.data() + at, &value, bytes);
    }
    const Bytes found = runner.run(text_of(approximation), input, blocks * threads * bytes,
                                   {static_cast<std::uint32_t>(blocks), 1, 1}, {threads, 1, 1});
    fmt::print("{} {:016x}\n", approximation.mnemonic, hash_of(found));
  }
}

/// The output lines of this program under the instruction set `isa`.
std::vector<std::string> lines_under(const char* isa, const char* program, const Wishes& wishes) {
  const std::string command =
      fmt::format("RUNG_ISA={} '{}' --lines --cases {} --seed {} --arguments {}", isa, program,
                  wishes.cases, wishes.seed, wishes.arguments);
  std::vector<std::string> lines;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("cannot start " + command, "\n");
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) lines.emplace_back(line);
  if (pclose(pipe) != 0) fail("failed: " + command, "\n");
  return lines;
}

Wishes wishes_of(int count, char** arguments) {
  Wishes wishes;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto number = [&] { return std::strtoull(arguments[++i], nullptr, 10); };
    if (argument == "--lines") wishes.lines = true;
    if (argument == "--print") wishes.print = true;
    if (i + 1 == count) break;
    if (argument == "--cases")
      wishes.cases = number();
    else if (argument == "--seed")
      wishes.seed = number();
    else if (argument == "--arguments")
      wishes.arguments = number();
  }
  return wishes;
}

}  // namespace

int main(int count, char** arguments) {
  const Wishes wishes = wishes_of(count, arguments);
  if (wishes.print) {
    for (std::uint64_t i = 0; i < wishes.cases; ++i) {
      std::fputs(random_kernel(wishes.seed + i).text.c_str(), stdout);
    }
    return 0;
  }
  if (wishes.lines) {
    Runner runner;
    run_approximations(runner, wishes);
    run_kernels(runner, wishes);
    return 0;
  }
  // A CPU that lacks one of these runs the best set that it has under that name.
  constexpr std::array sets = {"scalar", "avx2", "avx512"};
  const auto first = lines_under(sets[0], arguments[0], wishes);
  for (const char* const isa : std::span(sets).subspan(1)) {
    const auto others = lines_under(isa, arguments[0], wishes);
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i < others.size() && first[i] == others[i]) continue;
      fmt::print(stderr, "RUNG_ISA={} and {} differ: {} and {}", sets[0], isa, first[i],
                 i < others.size() ? others[i] : "nothing\n");
      return 1;
    }
  }
  fmt::print("{} kernels, {} approximations of {} numbers: the same everywhere\n", wishes.cases,
             std::size(approximations), wishes.arguments);
}
