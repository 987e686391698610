#pragma once
// Short kernels for the tests of the analyses in vgpu/program.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu {

/// `functions` and an entry `k` with registers of all kinds, three parameters and some variables.
/// `body` starts on line 1.
inline ptx::Module program(const std::string& body, const std::string& functions = {}) {
  return ptx::parse(
      ".version 8.7 .target sm_90a .address_size 64 " + functions +
          " .global .align 4 .b8 table[64]; .const .align 4 .b8 factors[64];"
          " .shared .align 16 .b8 As[64]; .shared .align 16 .b8 Bs[64];"
          " .extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);"
          " .visible .entry k(.param .u64 A, .param .u64 B, .param .u32 n) {"
          " .local .align 16 .b8 spilled[64];"
          " .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;"
          " .reg .f32 %f<99>; .reg .f64 %fd<9>; " +
          body + "\n}\n",
      "text");
}

inline const ptx::Function& entry_of(const ptx::Module& module) {
  return *std::find_if(module.functions.begin(), module.functions.end(),
                       [](const ptx::Function& function) { return function.entry; });
}

inline ptx::Function entry(const std::string& body) { return entry_of(program(body)); }

/// The index of a register that the text uses.
inline int register_named(const ptx::Function& function, std::string_view name) {
  const auto& registers = function.registers;
  const auto found = std::find_if(registers.begin(), registers.end(),
                                  [&](const ptx::Register& known) { return known.name == name; });
  EXPECT_NE(found, registers.end()) << name;
  return static_cast<int>(found - registers.begin());
}

}  // namespace rung::vgpu
