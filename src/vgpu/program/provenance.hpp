#pragma once
// What a pointer was computed from: the array or the parameter that an access has to stay inside,
// even where it lands in a neighbour's memory.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct PointerOrigin {
  enum class Kind : std::uint8_t {
    none,       // no pointer, as far as can be told
    shared,     // the shared variable `symbol`
    local,      // the local variable `symbol`
    global,     // the global or constant variable `symbol`
    parameter,  // the 64 bits at `offset` of the kernel's parameter `symbol`
    in_param,   // the place itself: `offset` bytes into the kernel's parameter `symbol`
    unknown,    // from memory, or from more than one of these
  };
  Kind kind = Kind::none;
  std::string symbol;
  std::int64_t offset = 0;

  bool operator==(const PointerOrigin&) const = default;
};

/// By register, whatever its place in the text: of all values that it ever holds. Right rather than
/// complete: where a register with an origin other than none and unknown is used as an address, it
/// is the origin's address plus an integer. Arithmetic that no compiler does with addresses
/// (products, shifts) is taken to give integers, and so is what is loaded into 32 bits.
std::vector<PointerOrigin> trace_pointers(const ptx::Module& module, const ptx::Function& function);

/// Of an address operand.
PointerOrigin origin_of(const std::vector<PointerOrigin>& registers, const ptx::Module& module,
                        const ptx::Function& function, const ptx::Operand& address);

}  // namespace rung::vgpu
