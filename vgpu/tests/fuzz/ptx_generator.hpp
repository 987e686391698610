#pragma once
// Generates almost valid PTX: instructions of real kernels with operands, modifiers, types and
// constants dropped, duplicated, exchanged or replaced.

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rung::vgpu {

/// An instruction split into parts: "@%p1", "ld.global.u32", {"%r1", "[%rd2+4]"}.
struct PtxStatement {
  std::string guard;
  std::vector<std::string> mnemonic;  // split at the dots
  std::vector<std::string> operands;

  std::string text() const;
};

/// Reads the statement in `line`; false if the line is not exactly one instruction.
bool read_statement(std::string_view line, PtxStatement& statement);

class PtxGenerator {
 public:
  /// `texts` are valid PTX modules.
  explicit PtxGenerator(const std::vector<std::string>& texts);

  /// A module; always the same for the same number.
  std::string make(std::uint64_t number);

 private:
  std::string own_kernel();
  std::string changed_text();
  void change(PtxStatement& statement);
  void change_operands(std::vector<std::string>& operands);
  void change_mnemonic(std::vector<std::string>& mnemonic);
  PtxStatement any_statement();
  std::string any_operand();
  std::string at_home(std::string_view operand);
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <class T>
  const T& any_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  std::vector<std::vector<std::string>> texts_;      // by lines
  const std::vector<std::string>* lines_ = nullptr;  // of the text being changed, or null
  std::size_t line_ = 0;                             // the line being changed
  std::vector<PtxStatement> statements_;             // one per mnemonic and kinds of operands
  std::vector<std::string> modifiers_;
  std::mt19937_64 random_;
};

}  // namespace rung::vgpu
