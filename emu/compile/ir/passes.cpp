#include "emu/compile/ir/passes.hpp"

#include <array>

namespace rung::emu {
namespace {

constexpr std::array passes = {
    IrPass{
        "state_cluster_sizes",
        "__cluster_dims__ sets the size of a kernel's clusters. The header makes it an annotation, "
        "which becomes a pragma in the kernel's PTX.",
        "ClusterSizes.StandAtTheBeginningOfTheirKernels", state_cluster_sizes},
    IrPass{"note_grid_constants",
           "The address of a __grid_constant__ parameter is in parameter memory, as TMA needs it "
           "for a "
           "tensor map. clang 19 does not know the word; the header makes it an annotation, which "
           "becomes LLVM's own. Other parameters are copied to local memory.",
           "GridConstants.AreNotedForTheirKernels", note_grid_constants},
    IrPass{
        "store_shared_addresses",
        "An array of addresses in shared memory, `half* part[2] = {tile, tile + 1024};`, is stored "
        "element by element. clang copies it from a constant, which cannot hold these addresses: "
        "they depend on the kernel.",
        "SharedTables.AreStored", store_shared_addresses},
    IrPass{"copy_by_vectors",
           "A copy of float4 and the like is one access. clang copies structures by llvm.memcpy, "
           "which "
           "LLVM splits into accesses of 8 bytes. Arrays are aligned so that vectors may begin in "
           "them.",
           "VectorCopies.HaveTheTypeOfTheirElements", copy_by_vectors},
    IrPass{"align_locals",
           "Arrays, and structures accessed by vectors, are aligned to the largest power of two, "
           "at most "
           "16 bytes, that divides their size. Programs rely on it.",
           "LocalAlignment.DividesTheSize", align_locals},
    IrPass{
        "nvcc_conversions",
        "Conversions that C++ leaves undefined are instructions that PTX defines for all values: "
        "cvt.rzi to 32 or 64 bits, whose lower bits are the smaller integers; a byte that is read "
        "as bool is true if it is not 0.",
        "NvccConversions.AreThoseToWords", nvcc_conversions},
    IrPass{"paste_string_operands",
           "An operand of asm with the constraint \"C\" is the name of a constant array of "
           "characters, "
           "whose text is part of the instruction. The source passes it as \"i\", an address.",
           "StringOperands.ArePartsOfTheInstruction", paste_string_operands},
    IrPass{
        "keep_locks_in_loops",
        "A branch that takes and releases a lock stays in its loop, so that lanes of a warp take "
        "the lock in turn. clang moves it behind the loop if the loop ends with it; there, a lane "
        "waits for the lanes that still try. A marker at the loop's end that may not be copied "
        "prevents that.",
        "LocksInLoops.GetAMarkerAtTheLoopsEnd", keep_locks_in_loops},
};

}  // namespace

std::span<const IrPass> ir_passes() { return passes; }

}  // namespace rung::emu
