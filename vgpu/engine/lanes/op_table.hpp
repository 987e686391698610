#pragma once
// The table of handlers by mnemonic. Default modifiers may be written or omitted ("add.rn.f32",
// "add.f32").

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// Returns {full, masked, operands()}. Out of line, because some files call it hundreds of times.
OpSpec make_spec(Handler full, Handler masked, std::vector<ptx::Type> (*operands)());

class OpTable {
 public:
  /// Takes the mnemonic in parts: concatenating them at hundreds of call sites would cost more
  /// compile time than the handlers.
  void add(std::initializer_list<std::string_view> mnemonic, OpSpec spec);
  /// Returns null if the table lacks the mnemonic.
  const OpSpec* find(const std::string& mnemonic) const;

 private:
  std::unordered_map<std::string, OpSpec> specs_;
};

}  // namespace rung::vgpu
