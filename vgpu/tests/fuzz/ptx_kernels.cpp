#include "vgpu/tests/fuzz/ptx_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/tests/fuzz/ptx_forms.hpp"
#include "vgpu/tests/fuzz/ptx_reference.hpp"

namespace rung::vgpu {
namespace {

using namespace ptx_forms;

constexpr const char* head = R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %h<6>; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .pred %again;
  .reg .b32 %t, %bits, %own, %other, %x; .reg .b64 %in, %out, %at;
)";
constexpr const char* begin = R"(  .shared .align 16 .b8 slots[4096];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %ctaid.x; mov.u32 %x, %tid.x; mad.lo.u32 %t, %t, 64, %x;
  mul.wide.u32 %at, %t, 128; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
  mov.u32 %own, slots; mad.lo.u32 %own, %x, 64, %own;
  xor.b32 %other, %x, 21; mov.u32 %bits, slots; mad.lo.u32 %other, %other, 64, %bits;
  ld.global.v2.b64 {%d0, %d1}, [%in]; ld.global.v2.b64 {%d2, %d3}, [%in+16];
  ld.global.v2.b64 {%d4, %d5}, [%in+32];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in+48]; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%in+64];
  st.shared.v4.b32 [%own], {%r0, %r1, %r2, %r3}; st.shared.v4.b32 [%own+16], {%r4, %r5, %r6, %r7};
  st.shared.v4.b32 [%own+32], {%r7, %r2, %r5, %r0};
  st.shared.v4.b32 [%own+48], {%r3, %r6, %r1, %r4};
  ld.global.v4.b16 {%h0, %h1, %h2, %h3}, [%in+80]; ld.global.v2.b16 {%h4, %h5}, [%in+88];
  ld.global.b32 %bits, [%in+92];
  and.b32 %x, %bits, 1; setp.ne.u32 %p0, %x, 0; and.b32 %x, %bits, 2; setp.ne.u32 %p1, %x, 0;
  and.b32 %x, %bits, 4; setp.ne.u32 %p2, %x, 0; and.b32 %x, %bits, 8; setp.ne.u32 %p3, %x, 0;
  bar.sync 0;
)";
constexpr const char* end =
    R"(  st.global.v2.b64 [%out], {%d0, %d1}; st.global.v2.b64 [%out+16], {%d2, %d3};
  st.global.v2.b64 [%out+32], {%d4, %d5};
  st.global.v4.b32 [%out+48], {%r0, %r1, %r2, %r3};
  st.global.v4.b32 [%out+64], {%r4, %r5, %r6, %r7};
  st.global.v4.b16 [%out+80], {%h0, %h1, %h2, %h3}; st.global.v2.b16 [%out+88], {%h4, %h5};
  selp.b32 %bits, 1, 0, %p0; selp.b32 %x, 2, 0, %p1; or.b32 %bits, %bits, %x;
  selp.b32 %x, 4, 0, %p2; or.b32 %bits, %bits, %x; selp.b32 %x, 8, 0, %p3; or.b32 %bits, %bits, %x;
  st.global.b32 [%out+92], %bits;
  ret;
}
)";

class Builder {
 public:
  explicit Builder(std::uint64_t number) : random_(number) {}

  PtxKernel kernel();
  PtxKernel kernel_of_forms(std::span<const std::string> forms, const FormsLayout& layout);

 private:
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class Items>
  auto any_of(const Items& items) {
    return items[below(items.size())];
  }

  std::string chosen(std::string_view pattern);
  std::string reg(char file);
  std::string constant(int bytes);
  std::string vector(std::string_view files);
  std::string operand(std::string_view kind);
  PtxStep step(std::string_view pattern);
  PtxStep any_step();
  PtxStep known_step();
  std::string guarded(PtxStep step);
  std::string shared_load();
  std::string instances(const std::string& form);
  std::string carry();
  std::string shared_access();
  std::string exchange();
  std::string branch(int depth);
  std::string loop(int depth);
  std::string statements(int depth, bool together);
  std::vector<std::uint8_t> input();

  std::mt19937_64 random_;
  int names_ = 0;
  int loops_ = 0;
};

/// The alternatives of the braces that `pattern` begins with, and what follows the braces.
std::pair<std::vector<std::string>, std::string_view> alternatives(std::string_view pattern) {
  const std::size_t closing = pattern.find('}');
  std::vector<std::string> choices(1);
  for (const char c : pattern.substr(1, closing - 1)) {
    if (c == '|') {
      choices.emplace_back();
    } else {
      choices.back() += c;
    }
  }
  return {choices, pattern.substr(closing + 1)};
}

/// The pattern with its alternatives chosen.
std::string Builder::chosen(std::string_view pattern) {
  std::string text;
  while (!pattern.empty()) {
    if (pattern.front() != '{') {
      text += pattern.front();
      pattern.remove_prefix(1);
      continue;
    }
    const auto [choices, rest] = alternatives(pattern);
    text += any_of(choices);
    pattern = rest;
  }
  return text;
}

/// Appends `begun` with every choice of the alternatives of `pattern`.
void expand(const std::string& begun, std::string_view pattern, std::vector<std::string>& forms) {
  const std::size_t plain = std::min(pattern.find('{'), pattern.size());
  const std::string text = begun + std::string(pattern.substr(0, plain));
  if (plain == pattern.size()) {
    forms.push_back(text);
    return;
  }
  const auto [choices, rest] = alternatives(pattern.substr(plain));
  for (const std::string& choice : choices) expand(text + choice, rest, forms);
}

std::string Builder::reg(char file) {
  const int count = file == 'h'   ? PtxKernel::halves
                    : file == 'r' ? PtxKernel::words
                    : file == 'd' ? PtxKernel::doublewords
                                  : PtxKernel::predicates;
  return fmt::format("%{}{}", file, below(static_cast<std::size_t>(count)));
}

std::string Builder::constant(int bytes) {
  return fmt::format("{:#x}", edge_value(random_, bytes));
}

std::string Builder::vector(std::string_view files) {
  std::vector<std::string> registers;
  while (registers.size() < files.size()) {
    const std::string next = reg(files[registers.size()]);
    if (std::ranges::find(registers, next) == registers.end()) registers.push_back(next);
  }
  return fmt::format("{{{}}}", fmt::join(registers, ", "));
}

std::string Builder::operand(std::string_view kind) {
  if (kind.front() == '[') return vector(kind.substr(1, kind.size() - 2));
  if (kind.size() > 1) return std::string(kind);  // verbatim
  switch (kind.front()) {
    case 'R': return one_in(3) ? constant(4) : reg('r');
    case 'D': return one_in(3) ? constant(8) : reg('d');
    case 'F': return one_in(3) ? fmt::format("0f{:08X}", edge_value(random_, 4)) : reg('r');
    case 'G': return one_in(3) ? fmt::format("0d{:016X}", edge_value(random_, 8)) : reg('d');
    case 'S': return one_in(3) ? reg('r') : std::to_string(below(70));
    case 'n': return std::to_string(below(32));
    case 'b': return std::to_string(below(256));
    case 'h':
    case 'r':
    case 'd':
    case 'p': return reg(kind.front());
    default: return std::string(kind);
  }
}

PtxStep Builder::step(std::string_view pattern) {
  const std::string line = chosen(pattern);
  PtxStep step;
  std::size_t at = line.find(' ');
  step.mnemonic = line.substr(0, at);
  while (at != std::string::npos) {
    const std::size_t next = line.find(' ', at + 1);
    step.operands.push_back(operand(line.substr(at + 1, next - at - 1)));
    at = next;
  }
  return step;
}

PtxStep Builder::any_step() {
  switch (below(9)) {
    case 0: return step(any_of(integer_forms));
    case 1: return step(any_of(bit_forms));
    case 2: return step(any_of(packed_forms));
    case 3: return step(any_of(double_forms));
    case 4: return step(any_of(half_forms));
    case 5: return step(any_of(compare_forms));
    case 6: return step(any_of(conversion_forms));
    case 7: return step(any_of(move_forms));
    default: return step(any_of(float_forms));
  }
}

/// A step that the reference implements.
PtxStep Builder::known_step() {
  for (;;) {
    PtxStep found = any_step();
    if (has_reference(found)) return found;
  }
}

std::string Builder::guarded(PtxStep step) {
  if (one_in(6)) step.guard = (one_in(2) ? "!" : "") + reg('p');
  return step.text();
}

std::string Builder::shared_load() {
  return fmt::format("  ld.shared.b32 {}, [%own+{}];\n", reg('r'), 4 * below(16));
}

/// The form twice, the second time with a guard unless all threads have to execute it, among loads and FMAs.
std::string Builder::instances(const std::string& form) {
  const auto fma = [&] { return step("fma.rn.f32 r r r r").text(); };
  PtxStep second = step(form);
  if (form.find(".sync") == std::string::npos) second.guard = reg('p');
  std::string text = shared_load() + shared_load() + fma() + fma() + step(form).text();
  text += shared_load() + fma() + second.text() + fma() + fma();
  return text;
}

PtxKernel Builder::kernel_of_forms(std::span<const std::string> forms, const FormsLayout& layout) {
  PtxKernel kernel;
  kernel.input = input();
  std::string body;
  for (const std::string& form : forms) body += instances(form);
  if (layout.apart) {
    std::string apart;
    for (const char c : body)
      apart += c == '\n' ? std::string("\n  mov.u32 %x, %clock;\n") : std::string(1, c);
    body = apart;
  }
  if (layout.loop) {
    body = "  mov.u32 %i0, 0;\nloop:\n" + body +
           "  add.u32 %i0, %i0, 1;\n  setp.lt.u32 %again, %i0, 3;\n  @%again bra loop;\n";
  }
  kernel.text = std::string(head) + "  .reg .b32 %i<1>;\n" + begin + body + end;
  return kernel;
}

/// A sum or difference of several words.
std::string Builder::carry() {
  const bool subtracts = one_in(2);
  const std::string first = subtracts ? "sub.cc.{u32|s32} r r R" : "{add|mad.lo}.cc.u32 r r R";
  const char* const next = subtracts ? "subc.cc.{u32|s32} r r R" : "addc.cc.{u32|s32} r r R";
  const char* const last = subtracts ? "subc.{u32|s32} r r R" : "addc.{u32|s32} r r R";
  PtxStep opening = step(first);
  if (opening.mnemonic.starts_with("mad")) opening.operands.push_back(reg('r'));
  return opening.text() + (one_in(2) ? step(next).text() : "") + step(last).text();
}

/// Loads or stores some of the thread's own 64 bytes of shared memory.
std::string Builder::shared_access() {
  switch (below(6)) {
    case 0: return fmt::format("  st.shared.b32 [%own+{}], {};\n", 4 * below(16), reg('r'));
    case 1: return fmt::format("  ld.shared.b32 {}, [%own+{}];\n", reg('r'), 4 * below(16));
    case 2:
      return fmt::format("  st.shared.v4.b32 [%own+{}], {};\n", 16 * below(4), vector("rrrr"));
    case 3:
      return fmt::format("  ld.shared.v4.b32 {}, [%own+{}];\n", vector("rrrr"), 16 * below(4));
    case 4: return fmt::format("  st.shared.b64 [%own+{}], {};\n", 8 * below(8), reg('d'));
    default:
      return fmt::format("  ld.shared.{}16 {}, [%own+{}];\n", one_in(2) ? "u" : "b", reg('h'),
                         2 * below(32));
  }
}

/// An exchange of values between the threads of a warp, or of a block through shared memory.
std::string Builder::exchange() {
  if (!one_in(4)) return step(any_of(warp_forms)).text();
  std::string text = "  bar.sync 0;\n";
  for (std::size_t count = 1 + below(3); count > 0; --count) {
    text += fmt::format("  ld.shared.b32 {}, [%other+{}];\n", reg('r'), 4 * below(16));
    if (one_in(2)) text += step("fma.rn.f32 r r r r").text();
  }
  return text + "  bar.sync 0;\n";
}

std::string Builder::branch(int depth) {
  const int name = names_++;
  const std::string guard = (one_in(2) ? "!" : "") + reg('p');
  if (one_in(2)) {
    return fmt::format("  @{0} bra skip{1};\n{2}skip{1}:\n", guard, name,
                       statements(depth - 1, false));
  }
  return fmt::format("  @{0} bra else{1};\n{2}  bra join{1};\nelse{1}:\n{3}join{1}:\n", guard, name,
                     statements(depth - 1, false), statements(depth - 1, false));
}

std::string Builder::loop(int depth) {
  const int name = names_++;
  ++loops_;
  const std::string body = statements(depth - 1, false);
  --loops_;
  return fmt::format(
      "  mov.u32 %i{0}, 0;\nloop{0}:\n{1}  add.u32 %i{0}, %i{0}, 1;\n"
      "  setp.lt.u32 %again, %i{0}, {2};\n  @%again bra loop{0};\n",
      name, body, 1 + below(4));
}

/// `together`: all threads execute the statements.
std::string Builder::statements(int depth, bool together) {
  std::string text;
  for (std::size_t count = 2 + below(8); count > 0; --count) {
    switch (below(14)) {
      case 0: text += depth > 0 ? branch(depth) : carry(); break;
      case 1: text += depth > 0 && loops_ < 2 ? loop(depth) : shared_access(); break;
      case 2: text += carry(); break;
      case 3:
      case 4: text += together ? exchange() : shared_access(); break;
      default: text += guarded(any_step());
    }
  }
  return text;
}

/// Input of edge values for the registers of every thread.
std::vector<std::uint8_t> Builder::input() {
  std::vector<std::uint8_t> bytes(PtxKernel::input_bytes * PtxKernel::threads * PtxKernel::blocks);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    std::memcpy(bytes.data() + at, &value, size);
  };
  for (std::size_t thread = 0; thread < bytes.size(); thread += PtxKernel::input_bytes) {
    std::size_t at = thread;
    for (int i = 0; i < PtxKernel::doublewords; ++i, at += 8) put(at, edge_value(random_, 8), 8);
    for (int i = 0; i < PtxKernel::words; ++i, at += 4) put(at, edge_value(random_, 4), 4);
    for (int i = 0; i < PtxKernel::halves; ++i, at += 2) put(at, edge_value(random_, 2), 2);
    put(at, random_(), 4);
  }
  return bytes;
}

PtxKernel Builder::kernel() {
  PtxKernel kernel;
  kernel.input = input();
  std::string body;
  if (one_in(3)) {
    for (std::size_t count = 3 + below(12); count > 0; --count) {
      kernel.steps.push_back(known_step());
      if (one_in(6)) kernel.steps.back().guard = (one_in(2) ? "!" : "") + reg('p');
      body += kernel.steps.back().text();
    }
  } else {
    body = statements(2, true) + statements(1, true);
  }
  const std::string counters =
      names_ > 0 ? fmt::format("  .reg .b32 %i<{}>;\n", names_) : std::string();
  kernel.text = head + counters + begin + body + end;
  return kernel;
}

}  // namespace

std::string PtxStep::text() const {
  return fmt::format("  {}{}{} {};\n", guard.empty() ? "" : "@" + guard, guard.empty() ? "" : " ",
                     mnemonic, fmt::join(operands, ", "));
}

std::uint64_t edge_value(std::mt19937_64& random, int bytes) {
  static constexpr std::array<std::uint64_t, 6> halves = {0x7FFF, 0x8000, 0x3C00,
                                                          0xFC00, 0x7C01, 1};
  static constexpr std::array<std::uint64_t, 12> words = {
      0x00000000, 0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7F800001,
      0xFFC12345, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x4F000000, 0xFFFFFFFF};
  static constexpr std::array<std::uint64_t, 12> doublewords = {
      0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0x7FF0000000000000,
      0xFFF0000000000000, 0x7FF0000000000111, 0xFFF8000000000222, 0x7FF8000000000333,
      0x000FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x43E0000000000000, 0xFFFFFFFFFFFFFFFF};
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  const std::uint64_t bits = random();
  switch (random() % 6) {
    case 0:
      return bytes == 8 ? doublewords[bits % 12] : bytes == 4 ? words[bits % 12] : halves[bits % 6];
    case 1: return bits % 41 & mask;
    case 2: return (std::uint64_t{0} - bits % 41) & mask;
    case 3: {  // a number of moderate size: f64, f32, bf16
      const double number = static_cast<double>(static_cast<std::int64_t>(bits) >> 40) / 4096;
      if (bytes == 8) return std::bit_cast<std::uint64_t>(number);
      return std::bit_cast<std::uint32_t>(static_cast<float>(number)) >> (bytes == 2 ? 16 : 0);
    }
    case 4: return ((std::uint64_t{1} << bits % 64) + (bits >> 62) - 1) & mask;
    default: return bits & mask;
  }
}

PtxKernel random_kernel(std::uint64_t number) { return Builder(number).kernel(); }

std::vector<std::string> all_forms() {
  std::vector<std::string> forms;
  const auto add = [&](const auto& patterns) {
    for (const std::string_view pattern : patterns) expand({}, pattern, forms);
  };
  add(integer_forms);
  add(bit_forms);
  add(packed_forms);
  add(float_forms);
  add(double_forms);
  add(half_forms);
  add(compare_forms);
  add(conversion_forms);
  add(move_forms);
  add(warp_forms);
  return forms;
}

PtxKernel kernel_of_forms(std::span<const std::string> forms, std::uint64_t number,
                          const FormsLayout& layout) {
  return Builder(number).kernel_of_forms(forms, layout);
}

}  // namespace rung::vgpu
