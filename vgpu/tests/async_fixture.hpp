#pragma once
// Kernels with mbarriers, bulk copies and wgmma, written as PTX in a test.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/model/tensor_map.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {

class AsyncTest : public LaunchTest {
 protected:
  /// Encodes a map of a row-major matrix, with boxes of box_columns x box_rows. Returns its
  /// address.
  std::uint64_t map(std::uint64_t matrix, TensorElement element, std::uint32_t columns,
                    std::uint32_t rows, std::uint64_t pitch, std::uint16_t box_columns,
                    std::uint16_t box_rows, TensorSwizzle swizzle = TensorSwizzle::none) {
    TensorMap map;
    map.tag = TensorMap::valid_tag;
    map.address = matrix;
    map.dimensions = 2;
    map.element = element;
    map.swizzle = swizzle;
    map.sizes = {columns - 1, rows - 1};
    map.strides = {pitch};
    map.box = {box_columns, box_rows};
    map.steps = {1, 1};
    std::vector<std::byte> bytes(128);
    std::memcpy(bytes.data(), &map, sizeof map);
    return array(bytes);
  }
};

/// Waits for the phase with that parity (a register or a number) of an mbarrier. `id` makes labels
/// unique.
inline std::string wait_for(const std::string& barrier, const std::string& parity,
                            const std::string& id) {
  return "W" + id + ": mbarrier.try_wait.parity.shared::cta.b64 %pw, [" + barrier + "], " + parity +
         ";\n @!%pw bra W" + id + ";\n";
}

/// Waits for bit `step` / 2 mod 2 of a register as parity.
inline std::string registers() {
  return ".reg .pred %pw, %p<8>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .f32 %f<136>;\n"
         ".reg .b64 %rd<20>;\n";
}

}  // namespace rung::vgpu
