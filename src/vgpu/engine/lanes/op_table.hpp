#pragma once
// The table of handlers by mnemonic, with defaults both written and omitted ("add.rn.f32",
// "add.f32").

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// {full, masked, operands()}; out of line, because it is called hundreds of times in a file.
OpSpec make_spec(Handler full, Handler masked, std::vector<ptx::Type> (*operands)());

class OpTable {
 public:
  /// Takes the mnemonic in parts: concatenating them at hundreds of call sites in a file would cost
  /// more compile time than the handlers.
  void add(std::initializer_list<std::string_view> mnemonic, OpSpec spec);
  /// Null if there is none.
  const OpSpec* find(const std::string& mnemonic) const;

 private:
  std::unordered_map<std::string, OpSpec> specs_;
};

}  // namespace rung::vgpu
