#include "emu/compile/source/passes.hpp"

#include <array>

namespace rung::emu {
namespace {

template <Edits (*PASS)(const SourceText&)>
Edits alone(const SourceText& source, const ProgramContext& /*context*/) {
  return PASS(source);
}

Edits repeat_declared_targets(const SourceText& source, const ProgramContext& context) {
  return context.targets.repeat_in(source);
}

Edits call_device_launches(const SourceText& source, const ProgramContext& context) {
  return rewrite_device_launches(source, context.launches, context.file);
}

constexpr std::array passes = {
    SourcePass{"repeat_declared_targets",
               "A definition without __host__ or __device__ has those of its declaration.",
               "programs/declarations.cu", repeat_declared_targets},
    SourcePass{
        "define_nvcc",
        "__NVCC__ is defined; CUDA's C++ libraries would take it for nvcc itself, so the source "
        "asks for __CUDACC__. `defined(__clang__) && defined(__CUDA__)` is false. A source that "
        "asks for "
        "__clang__ in another way stays as it is.",
        "programs/as_nvcc.cu", alone<define_nvcc>},
    SourcePass{
        "include_atomics",
        "<cooperative_groups.h> includes <cuda/atomic>, which here only sources get that use it.",
        "AcceptedSource.CooperativeGroupsBringAtomics", alone<include_atomics>},
    SourcePass{"drop_late_attributes",
               "Attributes may follow __device__, as in `__device__ [[nodiscard]] int f()`; none "
               "changes results.",
               "programs/declarations.cu", alone<drop_late_attributes>},
    SourcePass{"name_dependent_templates",
               "`typename traits<A>::rebind<B>` and `T::call<1>()` need no `template` before the "
               "last name.",
               "programs/declarations.cu", alone<name_dependent_templates>},
    SourcePass{
        "declare_shared_arrays",
        "`extern __shared__` may declare an object or an array with a bound; clang accepts only "
        "an array without one.",
        "programs/nvcc_declares.cu", alone<declare_shared_arrays>},
    SourcePass{
        "deduce_array_pointers",
        "`double (*a)[n] = (double (*)[n])p` may have a variable n, as in GCC; clang accepts "
        "`auto a = …`.",
        "AcceptedSource.PointersToArraysAreDeduced", alone<deduce_array_pointers>},
    SourcePass{"zero_variable_arrays",
               "An array of variable size may have the initializer {0}, as in GCC; memset sets it.",
               "programs/nvcc_declares.cu", alone<zero_variable_arrays>},
    SourcePass{"lead_with_alignas",
               "alignas may follow __shared__; clang wants it before the other specifiers.",
               "programs/as_nvcc.cu", alone<lead_with_alignas>},
    SourcePass{"drop_stray_backslashes",
               "A backslash before a comment, outside directives, is ignored.",
               "AcceptedSource.DropsStrayBackslashes", alone<drop_stray_backslashes>},
    SourcePass{"join_launch_brackets",
               "`k<< <grid, block>> >()` is a launch; clang knows only `<<<` and `>>>`.",
               "programs/vendor_names.cu", alone<join_launch_brackets>},
    SourcePass{"name_dimensions",
               "`k<<<{2, 2}, 64>>>()` converts the braces to dim3; clang wants dim3{2, 2}.",
               "AcceptedSource.NamesDimensionsInBraces", alone<name_dimensions>},
    SourcePass{"define_pragmas", "A macro may contain #pragma; other compilers want _Pragma.",
               "programs/as_nvcc.cu", alone<define_pragmas>},
    SourcePass{"escape_special_registers",
               "Inline PTX may name %tid and its own registers with one %; clang wants %%. "
               "Operands that do "
               "not exist are errors only where a template is instantiated, and commas between "
               "operands may "
               "be missing.",
               "programs/as_nvcc.cu", alone<escape_special_registers>},
    SourcePass{"call_device_launches",
               "Device code may launch kernels; clang has no syntax for it, so a function does it "
               "(rung_emu/device_launch.h).",
               "programs/device_launches.cu", call_device_launches},
    SourcePass{"rename_own_warp_size",
               "A program may define its own warpSize, because nvcc only declares that name.",
               "programs/as_nvcc.cu", alone<rename_own_warp_size>},
    SourcePass{"hide_arrays_of_vectors",
               "An access by float4* is one instruction; clang splits it where it sees an array of "
               "floats, so the cast hides the array (rung_emu/address.h).",
               "programs/vector_copies.cu", alone<hide_arrays_of_vectors>},
};

}  // namespace

std::span<const SourcePass> source_passes() { return passes; }

std::string accepted_source(const std::string& text, const ProgramContext& context) {
  SourceText source(text);
  for (const SourcePass& pass : passes) source.apply(pass.run(source, context));
  return source.text();
}

std::string drop_barrier_destructor(const std::string& text) {
  constexpr std::string_view destructor = "~barrier()";
  std::string result = text;
  const std::size_t at = result.find(destructor);
  if (at != text.npos) result.replace(at, destructor.size(), "void rung_emu_not_called()");
  return result;
}

}  // namespace rung::emu
