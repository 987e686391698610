#pragma once
// clang's LLVM IR of device code, as text before any optimization, gets what nvcc would have made of it.

#include <span>
#include <string>

namespace rung::emu {

struct IrPass {
  const char* name;
  const char* behaviour;  // what nvcc does
  const char* test;       // in tests/emu/llvm_text_test.cpp or vector_copies_test.cpp
  std::string (*run)(const std::string& module);
};

/// In the order in which they run: each sees the result of those before it.
std::span<const IrPass> ir_passes();

std::string state_cluster_sizes(const std::string& module);
std::string note_grid_constants(const std::string& module);
std::string store_shared_addresses(const std::string& module);
std::string copy_by_vectors(const std::string& module);
std::string align_locals(const std::string& module);
std::string nvcc_conversions(const std::string& module);
std::string paste_string_operands(const std::string& module);
std::string keep_locks_in_loops(const std::string& module);

}  // namespace rung::emu
