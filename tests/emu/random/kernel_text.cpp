#include "random/kernel_text.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <initializer_list>
#include <utility>

namespace rung {
namespace {

/// A piece of text, or a number.
struct Part {
  std::string text;
  Part(std::string of) : text(std::move(of)) {}
  Part(const char* of) : text(of) {}
  Part(unsigned of) : text(std::to_string(of)) {}
};

/// Replaces each {} of the pattern. A braced list is evaluated from left to right, unlike function
/// arguments, so a seed gives the same program with every compiler.
std::string filled(const char* pattern, std::initializer_list<Part> parts) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const Part& part : parts) store.push_back(part.text);
  return fmt::vformat(pattern, store);
}

constexpr int deepest = 2;

}  // namespace

/// Runs `text` for each live thread in turn, with the thread's variables in scope.
std::string KernelText::for_each_thread(const std::string& text) {
  return "  each_thread(block, [&](Thread& thread, int tid) {\n"
         "    unsigned &v0 = thread.v0, &v1 = thread.v1, &v2 = thread.v2, &v3 = thread.v3;\n"
         "    const int id = block.number * 128 + tid; const unsigned lane = tid % 32;\n"
         "    (void)v0; (void)v1; (void)v2; (void)v3; (void)id; (void)lane;\n" +
         text + "  });\n";
}

/// splitmix64.
unsigned KernelText::below(unsigned limit) {
  state_ += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<unsigned>((z ^ (z >> 31)) >> 32) % limit;
}

std::string KernelText::value(int depth) {
  if (depth <= 0) {
    switch (below(in_function_ ? 6 : 8)) {
      case 0: return fmt::format("{}u", below(40));
      case 1: return fmt::format("in[v{} & 63]", below(4));
      case 6: return "lane";
      case 7: return "(unsigned)tid";
      default: return fmt::format("v{}", below(4));
    }
  }
  const std::string a = value(depth - 1), b = value(depth - 1);
  switch (below(9)) {
    case 0: return fmt::format("({} - {})", a, b);
    case 1: return fmt::format("({} * {})", a, b);
    case 2: return fmt::format("({} ^ {})", a, b);
    case 3: return fmt::format("({} & {})", a, b);
    case 4: return fmt::format("({} >> {})", a, 1 + below(9));
    case 5: return filled("({} < {} ? {} : {})", {a, b, value(0), value(depth - 1)});
    case 6: return fmt::format("in[({} + {}u) & 63]", a, below(64));
    default: return fmt::format("({} + {})", a, b);
  }
}

std::string KernelText::condition() {
  switch (below(in_function_ ? 4 : 6)) {
    case 0: return filled("{} < {}", {value(1), value(1)});
    case 1: return filled("({} & {}u) == {}u", {value(1), 1 + below(7), below(4)});
    case 2: return filled("{} % {}u == 0", {value(0), 2 + below(4)});
    case 3: return filled("({} & 1) && {} > {}", {value(0), value(0), value(1)});
    case 4: return fmt::format("lane < {}u", below(33));
    default: return fmt::format("lane & {}u", 1 + below(31));
  }
}

/// Ends a thread: a return with a result, or a trap under a condition that never holds.
std::string KernelText::early_end() {
  if (one_in(2) || (!in_function_ && !may_return_)) {
    return fmt::format("if (({} & 1023u) > n) TRAP;\n", value(1));
  }
  if (in_function_) return filled("if ({}) return {};\n", {condition(), value(1)});
  return filled("if ({} && {}) RETURN({} + {}u);\n",
                {condition(), condition(), value(1), below(1000)});
}

std::string KernelText::switch_over(int depth, bool in_function) {
  const unsigned mask = one_in(2) ? 3 : 7;
  std::string text = fmt::format("switch ({} & {}u) {{\n", value(1), mask);
  const bool is_full = one_in(2);
  for (unsigned i = 0; i <= mask; ++i) {
    if (!is_full && one_in(3)) continue;
    text += fmt::format("case {}: ", i);
    if (in_function && one_in(2)) {
      text += fmt::format("return {};\n", value(1));
    } else {
      text += statement(depth - 1);
      if (i == mask || !one_in(5)) text += "break;\n";
    }
  }
  if (is_full) {
    const char* const ends[] = {"default: NEVER;\n", "default: TRAP;\n", "default: break;\n", ""};
    text += ends[below(4)];
  } else if (one_in(2)) {
    text += "default: " + statement(depth - 1) + "break;\n";
  }
  return text + "}\n";
}

std::string KernelText::loop(int depth) {
  const std::string i = fmt::format("i{}", names_++);
  std::string text =
      fmt::format("for (unsigned {0} = 0, e = {1} & 7; {0} < e; ++{0}) {{\n", i, value(1));
  ++loops_;
  text += statements(depth - 1);
  if (one_in(3)) text += fmt::format("if ({}) break;\n", condition());
  if (one_in(3)) text += fmt::format("if ({}) continue;\n", condition());
  text += statement(0);
  --loops_;
  return text + "}\n";
}

std::string KernelText::statement(int depth) {
  const unsigned to = below(4);
  if (depth > 0) {
    switch (below(10)) {
      case 0: return filled("if ({}) {{\n{}}}\n", {condition(), statements(depth - 1)});
      case 1:
        return filled("if ({}) {{\n{}}} else {{\n{}}}\n",
                      {condition(), statements(depth - 1), statements(depth - 1)});
      case 2: return "{\n" + switch_over(depth, in_function_) + "}\n";
      case 3: return loops_ < 2 ? loop(depth) : "";
      case 4: return "{\n" + early_end() + "}\n";
      case 5:
        if (functions_ > 0 && !in_function_) {
          return filled("v{} += {}_f{}({}, {}, in, n);\n",
                        {to, name_, below(static_cast<unsigned>(functions_)), value(1), value(1)});
        }
        break;
      default: break;
    }
  }
  const char* const operators[] = {"=", "+=", "^=", "-="};
  return filled("v{} {} {};\n", {to, operators[below(4)], value(2)});
}

std::string KernelText::statements(int depth) {
  std::string text;
  for (unsigned i = 1 + below(2); i > 0; --i) text += statement(depth);
  return text;
}

std::string KernelText::function(const std::string& name) {
  in_function_ = true;
  std::string body = one_in(2) ? switch_over(2, true) : statements(2);
  body += statements(1);
  const std::string result = value(1);
  in_function_ = false;
  return fmt::format(
      "{}__host__ __device__ unsigned {}(unsigned v0, unsigned v1, const unsigned* in, unsigned n) "
      "{{\n  unsigned v2 = v0 ^ v1, v3 = 1;\n  (void)v2; (void)v3; (void)n;\n{}  return {};\n}}\n",
      one_in(2) ? "__noinline__ " : "inline ", name, body, result);
}

KernelText::Step KernelText::local() {
  const std::string text = "{\n" + statements(deepest) + "}\n";
  return {text, for_each_thread(text)};
}

/// Some threads return, and the others remove them from later masks. Elsewhere, compilers may delay
/// returns until paths join, so masks would name lanes that have diverged.
KernelText::Step KernelText::departure() {
  const std::string gone = filled("({}) && ({})", {condition(), condition()});
  const std::string result = value(1);
  const std::string leave = fmt::format("if (gone) RETURN({} + {}u);\n", result, below(1000));
  return {fmt::format("{{ const bool gone = {};\nlive = __ballot_sync(live, !gone);\n{}}}\n", gone,
                      leave),
          for_each_thread("const bool gone = " + gone + ";\n" + leave)};
}

KernelText::Step KernelText::shuffle() {
  const unsigned by = 1 + below(31);
  const std::string source =
      one_in(2) ? fmt::format("(lane ^ {}u)", by) : fmt::format("((lane + {}u) & 31)", by);
  return {
      fmt::format("{{ const unsigned from = {};\n"
                  "  const unsigned x = __shfl_sync(live, v1, from);\n"
                  "  if (live >> from & 1) v0 += x; }}\n",
                  source),
      fmt::format("  host_shuffle(block, [&](unsigned lane) {{ return (int){}; }});\n", source)};
}

namespace {

struct Reduction {
  const char *name, *start, *expression;
};
constexpr Reduction reductions[] = {
    {"add", "0u", "a + b"},  {"min", "~0u", "a < b ? a : b"}, {"max", "0u", "a < b ? b : a"},
    {"and", "~0u", "a & b"}, {"or", "0u", "a | b"},           {"xor", "0u", "a ^ b"},
};

std::string on_host(const Reduction& reduction, bool chosen_only) {
  return fmt::format("  host_reduce(block, {}, [](unsigned a, unsigned b) {{ return {}; }}, {});\n",
                     reduction.start, reduction.expression, chosen_only);
}

}  // namespace

KernelText::Step KernelText::reduction() {
  const Reduction& reduction = reductions[below(6)];
  return {fmt::format("v0 += __reduce_{}_sync(live, v1);\n", reduction.name),
          on_host(reduction, false)};
}

KernelText::Step KernelText::ballot() {
  const unsigned bit = below(8);
  return {fmt::format("v3 ^= __ballot_sync(live, v2 >> {} & 1);\n", bit),
          fmt::format("  host_ballot(block, {});\n", bit)};
}

/// Exchanges values through shared memory.
KernelText::Step KernelText::exchange() {
  const unsigned by = 1 + below(40);
  const std::string write = "s[tid] = v0;\n";
  const std::string read = fmt::format("v1 += s[(tid + {}) % threads];\n", by);
  return {"__syncthreads();\n" + write + "__syncthreads();\n" + read + "__syncthreads();\n",
          for_each_thread(write) + for_each_thread(read)};
}

/// Odd threads write while even ones read what even ones wrote. Compilers load for all threads.
KernelText::Step KernelText::parity() {
  const unsigned by = 2 * below(30);
  const std::string write = "if (tid & 1) s[tid] = v2;\n";
  const std::string read =
      one_in(2) ? fmt::format("v3 += tid & 1 ? {}u : s[(tid + {}) & 127];\n", below(9), by)
                : fmt::format("if (!(tid & 1)) v3 ^= s[(tid + {}) & 127];\n", by);
  const std::string text = one_in(2) ? write + read : read + write;
  return {"__syncthreads();\n" + text + "__syncthreads();\n", for_each_thread(text)};
}

/// A part of the warp diverges and exchanges values within the branch.
KernelText::Step KernelText::group() {
  const std::string chosen = condition(), before = statements(2);
  const std::string after = statements(2), others = statements(2);
  const Reduction& reduction = reductions[below(6)];
  const std::string device = fmt::format(
      "{{ const bool c = {};\nconst unsigned m = __ballot_sync(live, c);\n"
      "if (c) {{\n{}v0 += __reduce_{}_sync(m, v1);\n{}}} else {{\n{}}}\n}}\n",
      chosen, before, reduction.name, after, others);
  return {device,
          for_each_thread("thread.chosen = " + chosen + ";\n") +
              for_each_thread("if (thread.chosen) {\n" + before + "}\n") +
              on_host(reduction, true) +
              for_each_thread("if (thread.chosen) {\n" + after + "} else {\n" + others + "}\n")};
}

/// Lanes leave a loop at different times. The remaining lanes exchange values.
KernelText::Step KernelText::shrinking_loop() {
  const std::string trips = value(1), body = statements(2);
  const Reduction& reduction = reductions[below(6)];
  const std::string i = fmt::format("i{}", names_++);
  const std::string device = fmt::format(
      "{{ const unsigned trips = ({0}) & 3;\nunsigned m = live;\n"
      "for (unsigned {1} = 0;; ++{1}) {{\nm = __ballot_sync(m, {1} < trips);\n"
      "if ({1} >= trips) break;\nv0 += __reduce_{2}_sync(m, v1);\n{{\n{3}}}\n}}\n}}\n",
      trips, i, reduction.name, body);
  const std::string count = fmt::format("trips{}", names_++);
  return {device,
          fmt::format("  {{ std::vector<unsigned> {0}(block.threads.size());\n{1}"
                      "  for (unsigned {2} = 0; {2} < 4; ++{2}) {{\n{3}{4}{5}  }}\n  }}\n",
                      count, for_each_thread(fmt::format("{}[tid] = ({}) & 3;\n", count, trips)), i,
                      for_each_thread(fmt::format("thread.chosen = {} < {}[tid];\n", i, count)),
                      on_host(reduction, true),
                      for_each_thread("if (thread.chosen) {\n" + body + "}\n"))};
}

/// A loop with the same trip count for all threads.
KernelText::Step KernelText::repeated() {
  const std::string i = fmt::format("i{}", names_++);
  const std::string head =
      fmt::format("for (unsigned {0} = 0; {0} < {1}; ++{0}) {{\n", i,
                  one_in(2) ? fmt::format("{}u", 1 + below(3)) : "(in[3] & 3)");
  Step result{head, "  " + head};
  for (unsigned count = 1 + below(2); count > 0; --count) {
    const Step inner = step(1);
    result.device += inner.device;
    result.host += inner.host;
  }
  result.device += "}\n";
  result.host += "  }\n";
  return result;
}

KernelText::Step KernelText::step(int depth) {
  if (steps_ == Steps::puns) return one_in(4) ? exchange() : pun();
  switch (below(depth > 0 ? 10 : 11)) {
    case 0:
    case 1: return shuffle();
    case 2: return reduction();
    case 3: return ballot();
    case 4: return exchange();
    case 5: return parity();
    case 6: return group();
    case 7: return shrinking_loop();
    case 10: return repeated();
    default: return local();
  }
}

std::string KernelText::kernel(const std::string& name) {
  name_ = name;
  functions_ = 0;
  std::string text = "\n";
  for (unsigned count = below(3); count > 0; --count) {
    text += function(fmt::format("{}_f{}", name, functions_));
    ++functions_;
  }
  Step all = local();
  for (unsigned count = 3 + below(6); count > 0; --count) {
    const Step next = one_in(2) ? local() : step(0);
    all.device += next.device;
    all.host += next.host;
    if (!one_in(4)) continue;
    const Step fewer = departure();
    all.device += fewer.device;
    all.host += fewer.host;
  }
  may_return_ = true;
  const Step last = local();
  may_return_ = false;
  all.device += last.device;
  all.host += last.host;
  const std::string end = "out[id] = v0 ^ (v1 + v2) ^ (v3 * 5u);\n";
  text += fmt::format(
      // Volatile: otherwise compilers merge this store with the last one, after all exchanges,
      // and lanes that return early still take part in them.
      "#define RETURN(x) do {{ *(volatile unsigned*)&out[id] = (x) ^ out_of_the_way; return; }} "
      "while (0)\n"
      "__global__ void {0}(const unsigned* in, unsigned* out, unsigned n) {{\n"
      "  __shared__ unsigned s[128];\n{3}"
      "  const int tid = threadIdx.x, id = blockIdx.x * 128 + tid, threads = blockDim.x;\n"
      "  const unsigned lane = tid % 32;\n"
      "  unsigned v0 = tid, v1 = in[tid & 63], v2 = in[(tid + 7) & 63] >> 3, v3 = 0;\n"
      "  for (int i = tid; i < 128; i += threads) s[i] = i;\n  __syncthreads();\n"
      "  unsigned live = __ballot_sync(~0u, 1);\n  (void)live;\n"
      "  (void)id; (void)lane; (void)threads;\n{1}  {2}}}\n#undef RETURN\n",
      name, all.device, end,
      steps_ == Steps::puns ? "  __shared__ alignas(16) unsigned char shared_room[32 * 128];\n"
                            : "");
  text += fmt::format(
      "#define RETURN(x) do {{ out[id] = (x) ^ out_of_the_way; thread.dead = true; return; }} "
      "while (0)\nPLAIN_BEGIN\n"
      "void host_{0}(Block& block, const unsigned* in, unsigned* out, unsigned n) {{\n"
      "  unsigned* const s = block.s;\n  const int threads = (int)block.threads.size();\n"
      "  for (unsigned i = 0; i < 128; ++i) s[i] = i;\n  (void)threads; (void)n;\n{1}{2}{3}}}\n"
      "PLAIN_END\n#undef RETURN\n",
      name, for_each_thread("v0 = tid; v1 = in[tid & 63]; v2 = in[(tid + 7) & 63] >> 3; v3 = 0;\n"),
      all.host, for_each_thread(end));
  return text;
}

}  // namespace rung
