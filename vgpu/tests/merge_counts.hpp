#pragma once
// The shared accesses of a function, according to the model.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/merge.hpp"
#include "vgpu/program/shared_layout.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/tests/merge_cases.hpp"

namespace rung::vgpu::merge_tests {

inline const std::string ptx_header = ".version 8.0\n.target sm_80\n.address_size 64\n";

inline void sort_down(Issued& issued) {
  std::sort(issued.loads.begin(), issued.loads.end(), std::greater<>());
  std::sort(issued.stores.begin(), issued.stores.end(), std::greater<>());
}

inline Issued issued_by_model(const ptx::Module& module, const ptx::Function& function) {
  const auto offsets = shared_layout(module, function);
  const MergeModel model(function, [&](std::string_view symbol) -> std::optional<std::uint64_t> {
    const auto found = offsets.find(std::string(symbol));
    return found == offsets.end() ? std::nullopt : std::optional(found->second);
  });
  Issued issued;
  for (const CfgBlock& block : control_flow(function).blocks) {
    for (const IssuedAccess& access : model.issued(block.first, block.count)) {
      const bool load = function.body[access.leader].opcode == ptx::Opcode::ld;
      (load ? issued.loads : issued.stores).push_back(access.bytes);
    }
  }
  sort_down(issued);
  return issued;
}

}  // namespace rung::vgpu::merge_tests
