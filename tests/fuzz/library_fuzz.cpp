// Random products and dot products, by each function of rung.h and each rung, with operands next to
// inaccessible pages:
//   library_fuzz [--cases N] [--seed S] [--first I]
// Each case runs the library or one of its rungs and is checked by core/verify or, where all sums
// are exact, by another function. A failure prints the command that repeats it. RUNG_ISA chooses
// the instruction set.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "../library/entry_points.hpp"
#include "../library/public_call.hpp"
#include "backends/backend.hpp"
#include "core/dtype.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "device/cpu/machine.hpp"
#include "guarded_memory.hpp"
#include "random_problems.hpp"

namespace rung {
namespace {

constexpr std::size_t operand_bytes = 16 << 20;

/// The text that the crash handler prints.
char current_case[512];

void report_crash(int signal) {
  const ssize_t ignored = write(STDERR_FILENO, current_case, std::strlen(current_case));
  static_cast<void>(ignored);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void catch_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    ::signal(signal, report_crash);
  }
}

struct Bytes {
  const void* begin;
  std::size_t size;
};

/// The bytes of a matrix from its first element to its last one.
template <class Pointer>
Bytes bytes_of(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
               Dtype dtype) {
  if (rows == 0 || cols == 0) return {matrix.data, 0};
  const std::int64_t last = (rows - 1) * matrix.row_stride + (cols - 1) * matrix.col_stride;
  return {matrix.data, static_cast<std::size_t>(last + 1) * input_bytes(dtype)};
}

/// A read-only operand of a call, copied to a place next to inaccessible pages.
class Input {
 public:
  const std::byte* place(const Bytes& from, GuardedMemory::Place place) {
    from_ = from;
    copy_ = memory_.copy(from.begin, from.size, place);
    return copy_;
  }
  const std::byte* forbidden() const { return memory_.forbidden(); }
  bool intact() const {
    return from_.size == 0 || std::memcmp(copy_, from_.begin, from_.size) == 0;
  }

 private:
  GuardedMemory memory_{operand_bytes};
  Bytes from_{};
  const std::byte* copy_ = nullptr;
};

class Fuzz {
 public:
  /// Runs a case. Returns a description of what is wrong, or an empty string.
  std::string run(Draws draws) {
    if (draws.one_in(4)) return entry(draws);
    return draws.one_in(3) ? dot(draws) : gemm(draws);
  }

  /// The current case, for messages.
  const std::string& text() const { return text_; }
  void introduce(std::string text) {
    text_ = std::move(text);
    const std::string line = text_ + "\n";
    line.copy(current_case, sizeof current_case - 1);
    current_case[std::min(line.size(), sizeof current_case - 1)] = '\0';
  }
  void set_command(std::string command) { command_ = std::move(command); }

 private:
  std::string gemm(Draws& draws) {
    const GemmSpec spec = random_gemm(draws);
    GemmCase problem(spec);
    const RungInfo* rung = random_rung(draws, gemm_rungs_);
    if (rung != nullptr && backend_.why_not(*rung, problem.call())) rung = nullptr;
    const int threads = random_threads(draws);
    const Form form = draws.one_in(2) ? Form::row_major_c : Form::col_major_c;
    const auto place_a = random_place(draws), place_b = random_place(draws),
               place_c = random_place(draws);
    introduce(fmt::format("{}: {} on {} threads: {}", command_, rung ? rung->id : "library",
                          threads, describe(spec)));
    bool intact = true;
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      GemmCall moved = call;
      moved.a.data = a_.place(bytes_of(call.a, call.m, call.k, call.dtype), place_a);
      moved.b.data = b_.place(bytes_of(call.b, call.k, call.n, call.dtype), place_b);
      const Bytes c = bytes_of(call.c, call.m, call.n, output_type(call.dtype));
      moved.c.data = c_.copy(c.begin, c.size, place_c);
      if (rung != nullptr) {
        rung::run(backend_, *rung, moved, threads);
      } else {
        if (call.alpha == 0 || call.m == 0 || call.n == 0) {  // then A and B are not read
          moved.a.data = a_.forbidden();
          moved.b.data = b_.forbidden();
        }
        public_gemm(moved, form, GemmOptions{.threads = threads});
      }
      if (c.size != 0) std::memcpy(call.c.data, moved.c.data, c.size);
      intact = intact && a_.intact() && b_.intact() && c_.pattern_intact();
    });
    if (!verdict.right) return verdict.message;
    return intact ? "" : "an input changed, or a write beside C";
  }

  std::string dot(Draws& draws) {
    DotSpec spec = random_dot(draws);
    const RungInfo* rung = random_rung(draws, dot_rungs_);
    const auto mode = static_cast<DotMode>(draws.below(4));
    const int threads = random_threads(draws);
    const auto place_x = random_place(draws), place_y = random_place(draws);
    if (rung != nullptr && backend_.why_not(*rung, DotCase(spec).call())) rung = nullptr;
    spec.accuracy = rung != nullptr ? accuracy_of(*rung) : accuracy_of(mode);
    DotCase problem(spec);
    introduce(fmt::format("{}: {} on {} threads, mode {}: {}", command_,
                          rung ? rung->id : "library", threads, static_cast<int>(mode),
                          describe(spec)));
    bool intact = true;
    const Verdict verdict = verify(problem, [&](const DotCall& call) {
      DotCall moved = call;
      moved.x = place(call.x, call.incx, call, a_, place_x);
      moved.y = place(call.y, call.incy, call, b_, place_y);
      const double sum = rung != nullptr ? rung::run(backend_, *rung, moved, threads)
                                         : public_dot(moved, {.threads = threads, .mode = mode});
      intact = intact && a_.intact() && b_.intact();
      return sum;
    });
    if (!verdict.right) return verdict.message;
    return intact ? "" : "an input changed";
  }

  /// Runs a function of rung.h. Compares its result with that in ordinary memory and with rung_gemm
  /// for each product.
  std::string entry(Draws& draws) {
    const auto all = entry::entry_points();
    const entry::EntryPoint& point = all[static_cast<std::size_t>(draws.below(std::ssize(all)))];
    const entry::Problem problem = random_entry(draws);
    const int threads = random_threads(draws), mode = static_cast<int>(draws.below(4));
    introduce(fmt::format("{}: {} on {} threads, mode {}: {} x {} x {}, {} times", command_,
                          point.name(), threads, mode, problem.m, problem.n, problem.k,
                          problem.count));
    const auto values_of = [&](const entry::EntryPoint& any) {
      std::deque<std::vector<std::byte>> memory;
      const entry::Call call =
          any.make(problem, [&](std::size_t bytes) { return memory.emplace_back(bytes).data(); });
      const rung_status status = call.run(threads, mode);
      return std::pair(status, call.values());
    };
    const auto [status, expected] = values_of(point);
    std::deque<GuardedMemory> guarded;
    const entry::Call call = point.make(problem, [&](std::size_t bytes) {
      const std::vector<std::byte> zeros(bytes);
      return guarded.emplace_back(bytes).copy(zeros.data(), bytes, random_place(draws));
    });
    std::vector<std::vector<std::byte>> inputs;
    for (const auto& input : call.inputs) inputs.emplace_back(input.begin(), input.end());
    if (call.run(threads, mode) != status) return rung_last_error();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!std::ranges::equal(inputs[i], call.inputs[i])) return "an input changed";
    }
    if (!std::ranges::all_of(guarded, &GuardedMemory::pattern_intact)) {
      return "a write beside an operand";
    }
    if (call.values() != expected) return "another result than in ordinary memory";
    if (point.reference == nullptr || status != RUNG_OK) return "";
    auto products = values_of(*point.reference).second;
    // Some functions have only the first product.
    products.resize(std::min(products.size(), expected.size()));
    return products == expected ? "" : "another result than that of rung_gemm for each product";
  }

  /// The address of element i = 0 in a copy of the vector.
  static const void* place(const void* first, std::int64_t increment, const DotCall& call,
                           Input& input, GuardedMemory::Place place) {
    const auto size = static_cast<std::int64_t>(input_bytes(call.dtype));
    const std::int64_t last = call.n == 0 ? 0 : (call.n - 1) * increment * size;
    const std::int64_t lowest = std::min<std::int64_t>(last, 0);
    const std::int64_t bytes = call.n == 0 ? 0 : std::abs(last) + size;
    const auto* from = static_cast<const std::byte*>(first) + lowest;
    return input.place({from, static_cast<std::size_t>(bytes)}, place) - lowest;
  }

  static Accuracy accuracy_of(DotMode mode) {
    if (mode == DotMode::compensated) return Accuracy::compensated;
    return mode == DotMode::reproducible ? Accuracy::exact : Accuracy::plain;
  }
  static Accuracy accuracy_of(const RungInfo& rung) { return rung::accuracy_of(rung); }

  /// Null chooses the library.
  static const RungInfo* random_rung(Draws& draws, const std::vector<const RungInfo*>& rungs) {
    if (draws.one_in(2)) return nullptr;
    return rungs[static_cast<std::size_t>(draws.below(std::ssize(rungs)))];
  }

  const Backend& backend_ = *find_backend("cpu");
  std::vector<const RungInfo*> gemm_rungs_ = select({"gemm/cpu"});
  std::vector<const RungInfo*> dot_rungs_ = select({"dot/cpu"});
  Input a_, b_;
  GuardedMemory c_{operand_bytes};
  std::string command_, text_;
};

struct Arguments {
  std::uint64_t cases = 1000, seed = 1, first = 0;
};

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    std::uint64_t* const value = name == "--cases"   ? &arguments.cases
                                 : name == "--seed"  ? &arguments.seed
                                 : name == "--first" ? &arguments.first
                                                     : nullptr;
    if (value == nullptr || i + 1 == argc) return false;
    const std::string_view text = argv[i + 1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (error != std::errc() || end != text.data() + text.size()) return false;
  }
  return true;
}

int fuzz(const Arguments& arguments) {
  const std::string isa(cpu::name(cpu::machine().isa));
  Fuzz fuzz;
  catch_crashes();
  for (std::uint64_t i = arguments.first; i < arguments.first + arguments.cases; ++i) {
    fuzz.set_command(fmt::format("RUNG_ISA={} library_fuzz --seed {} --first {} --cases 1", isa,
                                 arguments.seed, i));
    const std::string wrong = fuzz.run(Draws(arguments.seed, i));
    if (wrong.empty()) continue;
    fmt::print(stderr, "{}\n{}\n", fuzz.text(), wrong);
    return 1;
  }
  fmt::print("{} cases with seed {} under {}: all right\n", arguments.cases, arguments.seed, isa);
  return 0;
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  rung::Arguments arguments;
  if (!rung::parse(argc, argv, arguments)) {
    fmt::print(stderr, "usage: library_fuzz [--cases N] [--seed S] [--first I]\n");
    return 2;
  }
  const char* wish = std::getenv("RUNG_ISA");
  if (wish != nullptr && rung::cpu::name(rung::cpu::machine().isa) != wish) {
    fmt::print("skipped: this CPU does not run {}\n", wish);
    return skipped;
  }
  return rung::fuzz(arguments);
}
