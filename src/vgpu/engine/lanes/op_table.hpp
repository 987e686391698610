#pragma once
// Which handler runs which instruction: a table by mnemonic as PTX writes it, defaults spelled out
// and left out both ("add.rn.f32", "add.f32").

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// {full, masked, operands()}; a function for the same reason.
OpSpec make_spec(Handler full, Handler masked, std::vector<ptx::Type> (*operands)());

class OpTable {
 public:
  /// The mnemonic in parts: put together where it is called, hundreds of times in a file, they
  /// would cost more to compile than the handlers.
  void add(std::initializer_list<std::string_view> mnemonic, OpSpec spec);
  /// Null if there is none.
  const OpSpec* find(const std::string& mnemonic) const;

 private:
  std::unordered_map<std::string, OpSpec> specs_;
};

}  // namespace rung::vgpu
