// Each form of each arithmetic instruction gives the same bits on every path through the engine: its own
// handler, a step of a superinstruction, and machine code, alone and merged with its neighbours, with
// observers and without.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/translate.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/tests/fuzz/ptx_kernels.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

using Bytes = std::vector<std::uint8_t>;

class OpcodePaths : public LaunchTest {
 protected:
  /// The bytes that the kernel stores.
  Bytes stored(const PtxKernel& kernel, bool observe, bool native) {
    options.observe = observe;
    options.native = native;
    options.threads = 1;
    const std::uint64_t in = array(kernel.input);
    const std::uint64_t out = array(Bytes(kernel.input.size()));
    const LaunchReport report =
        run(kernel.text, {PtxKernel::blocks, 1, 1}, {PtxKernel::threads, 1, 1}, {in, out});
    expect_none(report);
    const Bytes result = values<std::uint8_t>(out, kernel.input.size());
    memory.free(in);
    memory.free(out);
    return result;
  }

  /// Compares all paths with handlers of single instructions.
  void compare(std::span<const std::string> forms, std::uint64_t number, bool loop) {
    const Bytes expected = stored(kernel_of_forms(forms, number, {true, loop}), false, false);
    for (const bool apart : {true, false}) {
      const PtxKernel kernel = kernel_of_forms(forms, number, {apart, loop});
      for (const bool observe : {false, true}) {
        for (const bool native : {false, true}) {
          ASSERT_EQ(stored(kernel, observe, native), expected)
              << (native ? "machine code" : "handlers") << (observe ? ", observed" : "")
              << (apart ? "" : ", merged") << ":\n"
              << kernel.text;
        }
      }
      // The paths exist: otherwise the comparison says nothing.
      EXPECT_EQ(module->kernel("k")->superinstructions.empty(), apart) << kernel.text;
      EXPECT_EQ(module->kernel("k")->native_code.empty(), !native::is_supported()) << kernel.text;
    }
  }
};

TEST_F(OpcodePaths, GiveTheSameBitsForEveryForm) {
  const std::vector<std::string> forms = all_forms();
  constexpr std::size_t at_a_time = 6;
  for (std::size_t first = 0; first < forms.size(); first += at_a_time) {
    const auto some = std::span(forms).subspan(first, std::min(at_a_time, forms.size() - first));
    compare(some, first, first / at_a_time % 2 == 1);
    if (HasFatalFailure()) return;
  }
}

/// Opcodes of these kinds compute registers from registers.
bool computes(ptx::Opcode opcode) {
  using enum ptx::InstructionKind;
  const ptx::InstructionKind kind = ptx::kind_of(opcode);
  return kind == arithmetic || kind == logic || kind == move || kind == conversion ||
         kind == special_function;
}

TEST(OpcodePathsTable, HasEveryOpcodeThatComputes) {
  using enum ptx::Opcode;
  // Sums with carries are several instructions, and random kernels have them; the others map addresses.
  const std::set<ptx::Opcode> elsewhere = {addc, madc, subc, cvta, isspacep, mapa, getctarank};
  std::set<std::string> words;
  for (const std::string& form : all_forms())
    words.insert(form.substr(0, form.find_first_of(". ")));
  for (const auto opcode : {
#define RUNG_PTX_INSTRUCTION(id, word, kind, facts) ptx::Opcode::id,
#include "vgpu/ptx/instructions.def"
       }) {
    if (!computes(opcode) || elsewhere.contains(opcode)) continue;
    EXPECT_TRUE(words.contains(std::string(name(opcode))))
        << name(opcode) << " has no form in ptx_forms.hpp";
  }
}

}  // namespace
}  // namespace rung::vgpu
