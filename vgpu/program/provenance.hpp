#pragma once
// Pointer provenance: the array or parameter from which a pointer was computed. An access must stay
// inside it, even if the address outside is valid memory.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct PointerOrigin {
  enum class Kind : std::uint8_t {
    none,       // not a pointer, as far as known
    shared,     // the shared variable `symbol`
    local,      // the local variable `symbol`
    global,     // the global or constant variable `symbol`
    parameter,  // the 64 bits at `offset` of the kernel's parameter `symbol`
    in_param,   // an address in .param: `offset` bytes into the kernel's parameter `symbol`
    unknown,    // loaded from memory, or one of several of these
  };
  Kind kind = Kind::none;
  std::string symbol;
  std::int64_t offset = 0;

  bool operator==(const PointerOrigin&) const = default;
};

/// For each register, the common origin of all its values. The result is sound but not complete: if
/// a register whose origin is neither `none` nor `unknown` is used as an address, it is that
/// origin's address plus an integer. Results of arithmetic that compilers do not apply to addresses
/// (products, shifts), and values loaded into 32 bits, are assumed to be integers.
std::vector<PointerOrigin> trace_pointers(const ptx::Module& module, const ptx::Function& function);

/// The origin of an address operand.
PointerOrigin origin_of(const std::vector<PointerOrigin>& registers, const ptx::Module& module,
                        const ptx::Function& function, const ptx::Operand& address);

}  // namespace rung::vgpu
