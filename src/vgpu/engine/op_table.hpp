#pragma once
// Which handler runs which instruction: a table by mnemonic as PTX writes it, defaults spelled out
// and left out both ("add.rn.f32", "add.f32").

#include <string>
#include <string_view>
#include <unordered_map>

#include "vgpu/program/instr.hpp"

namespace rung::vgpu {

class OpTable {
 public:
  void add(std::string mnemonic, OpSpec spec);
  /// Null if there is none.
  const OpSpec* find(const std::string& mnemonic) const;

 private:
  std::unordered_map<std::string, OpSpec> specs_;
};

}  // namespace rung::vgpu
