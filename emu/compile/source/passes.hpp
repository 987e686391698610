#pragma once
// nvcc accepts more than clang. These passes rewrite a source so that both accept it and compile it to the
// same program. Lines keep their numbers.

#include <span>
#include <string>

#include "emu/compile/source/declared_targets.hpp"
#include "emu/compile/source/device_launches.hpp"
#include "emu/compile/source/source_text.hpp"

namespace rung::emu {

/// The facts about the whole program that passes may use.
struct ProgramContext {
  const DeclaredTargets& targets;
  const DeviceLaunches& launches;
  const std::string& file;  // the source's path, as in `launches`
};

struct SourcePass {
  const char* name;
  const char* behaviour;  // of nvcc that clang does not share
  const char* test;       // a program in tests/emu that the pass changes, or a unit test
  Edits (*run)(const SourceText&, const ProgramContext&);
};

/// In the order in which they run: each sees the result of those before it.
std::span<const SourcePass> source_passes();

/// The text after all passes.
std::string accepted_source(const std::string& text, const ProgramContext& context);

/// The header of cuda::barrier, in which clang may rename the destructor: nvcc never calls the destructor
/// of a __shared__ variable, and clang rejects a type that has one.
std::string drop_barrier_destructor(const std::string& text);

// The passes that need no context. source_passes() says what each is for.
Edits define_nvcc(const SourceText& source);
Edits include_atomics(const SourceText& source);
Edits drop_late_attributes(const SourceText& source);
Edits name_dependent_templates(const SourceText& source);
Edits declare_shared_arrays(const SourceText& source);
Edits deduce_array_pointers(const SourceText& source);
Edits zero_variable_arrays(const SourceText& source);
Edits lead_with_alignas(const SourceText& source);
Edits drop_stray_backslashes(const SourceText& source);
Edits join_launch_brackets(const SourceText& source);
Edits name_dimensions(const SourceText& source);
Edits define_pragmas(const SourceText& source);
Edits escape_special_registers(const SourceText& source);
Edits rename_own_warp_size(const SourceText& source);
Edits hide_arrays_of_vectors(const SourceText& source);

}  // namespace rung::emu
