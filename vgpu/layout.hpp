#pragma once
// Where instructions expect the elements of a matrix: in shared memory, or in the registers of a
// warp's lanes. Computed by the functions that execute these instructions; ldmatrix and stmatrix
// are run.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/model/layout_watch.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu::layout {

/// An element in a register.
struct Slot {
  int row, column;  // in the matrix
  int thread;       // lane of the warp, or thread of the warpgroup
  int reg, index;   // the register, and the element's index from its low bits
};

/// A matrix in registers.
struct Fragment {
  std::string what;     // "A of mma.sync.m16n8k16, bf16"
  std::string section;  // of the PTX ISA; empty if the layout is not specified there
  int rows, columns;
  int threads, registers, per_register;
  std::vector<Slot> slots;        // by thread, register and index
  bool in_tensor_memory = false;  // threads are lanes of tensor memory, registers its columns
};

/// The fragment 'A', 'B', 'C' or 'D' of an instruction: "mma" or "wmma" with any of their shapes
/// ("m16n8k16"), "wgmma" ("m64n128k16"; A or D), or "simdgroup" (shape empty). `sum` is the type of
/// C and D. Throws std::invalid_argument, with the allowed values, for forms that do not exist.
Fragment fragment(std::string_view instruction, std::string_view shape, MatrixElement type,
                  MatrixElement sum, char operand);

/// The cells of tensor memory that a warp's tcgen05.ld or .st of a form ("32x32b.x8") moves: rows are
/// lanes of tensor memory from the address on, columns its columns (PTX ISA, 9.7.16.2.3.1). Throws
/// std::invalid_argument.
Fragment tensor_load(std::string_view form);

/// D of a tcgen05.mma in tensor memory, from its address on. m rows are those of all blocks; lanes of the second block of
/// a pair count on from 128 (PTX ISA, 9.7.16.10.5). Throws std::invalid_argument for shapes that do not exist.
struct TensorProductForm {
  int m = 128, n = 128;
  int blocks = 1;  // .cta_group
  bool weight_stationary = false, sparse = false;
};
Fragment tensor_sums(const TensorProductForm& form);
/// Block scales of `lines` rows of A or columns of B in tensor memory, from the byte that the instruction descriptor
/// names on: a row for each line, a column for each of 1 to 6 scales; index is the byte (PTX ISA, 9.7.16.10.7).
Fragment tensor_scales(char operand, int lines, int scales, int first_byte);

/// A, B, C, D or the metadata ('E', four bits each) of a sparse mma.sp (PTX ISA, 9.7.14.6). Columns of A are its stored
/// elements, columns of E the chunks of k. Throws std::invalid_argument.
Fragment sparse_fragment(std::string_view shape, MatrixElement type, MatrixElement sum,
                         char operand, int selector);
/// The block scales of A or B of mma.sync with .block_scale, by byte-id and thread-id: rows are rows of A or columns of
/// B, columns their 1, 2 or 4 scales, index is the byte of the lane's register. Throws std::invalid_argument.
Fragment scale_fragment(char operand, int scales, int byte, int thread);

/// The name of an element type ("bf16"), and the type with that name. Throws std::invalid_argument
/// with the names.
std::string_view name(MatrixElement element);
MatrixElement element_named(std::string_view name);
/// The type of C and D that goes with this type of A and B.
MatrixElement usual_sum(MatrixElement type);
/// A shape such as "m64n128k16". Throws std::invalid_argument.
std::array<int, 3> shape_named(std::string_view shape);

/// Consecutive elements, along the innermost dimension of a box or along a line of an operand.
struct Chunk {
  std::array<std::int32_t, TensorMap::max_dimensions> at;  // of the first, innermost first
  std::uint32_t address, bytes;                            // in shared memory
};

/// The elements of a box that a bulk copy places at an address of shared memory (PTX ISA, 5.5.7).
std::vector<Chunk> box_chunks(const TensorMap& map, std::uint32_t address);
/// A column of pixels that a bulk copy with .im2col takes from images (PTX ISA, 5.5.4): `at` are the coordinates C, W, H,
/// D, N of the instruction, and `offsets` its im2col offsets. Chunk::at are coordinates in the tensor; pixels outside of
/// it, which become zeros, have no chunks. Throws std::invalid_argument if `at` is outside of the bounding box.
std::vector<Chunk> pixel_chunks(const TensorMap& map,
                                const std::array<std::int32_t, TensorMap::max_dimensions>& at,
                                const std::array<std::int32_t, TensorMap::max_spatial>& offsets,
                                std::uint32_t address);

/// Bytes from the first row of a box to the end of the last, and from one row to the next.
std::uint32_t box_bytes(const TensorMap& map);
std::uint32_t box_pitch(const TensorMap& map);

/// The fields of a matrix descriptor, in bytes.
struct Descriptor {
  std::uint32_t start = 0, leading = 0, stride = 0;
  std::uint32_t base = 0;  // base offset, 0 to 7
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool operator==(const Descriptor&) const = default;
};
/// The bits of a descriptor in the format of an instruction (PTX ISA, 9.7.15.5.1 and 9.7.16.4.1).
enum class DescriptorFormat : std::uint8_t { wgmma, tcgen05 };
std::uint64_t encode(const Descriptor& descriptor,
                     DescriptorFormat format = DescriptorFormat::wgmma);
/// Throws std::invalid_argument for bits that are no descriptor of tcgen05.
Descriptor decode(std::uint64_t bits, DescriptorFormat format = DescriptorFormat::wgmma);

/// An operand in shared memory of wgmma or tcgen05.mma: `lines` rows of A or columns of B, by k.
struct Operand {
  Descriptor descriptor;
  MatrixElement type;
  int lines, k;
  bool transposed;  // MN-major
};
/// The chunks of 16 bytes that the instruction reads. Chunk::at is {k, line}, of the first element;
/// the next is along k, or along the lines if transposed.
std::vector<Chunk> operand_chunks(const Operand& operand);

/// Runs ldmatrix or stmatrix of `count` 8x8 matrices (1, 2 or 4) on the virtual GPU. `address`:
/// byte offset in shared memory of each lane's row, a multiple of 16 below 64 KiB.
struct MatrixCopy {
  std::vector<std::uint32_t> address;  // of each 16-bit element, by lane, register and half
  int wavefronts = 0;                  // passes through the banks
};
MatrixCopy matrix_copy(bool stores, int count, bool transposed,
                       const std::array<std::uint32_t, 32>& address);

/// Passes through the banks of shared memory for an access of all lanes.
int wavefronts(const std::array<std::uint64_t, 32>& address, std::uint32_t bytes, bool load);

/// Sets the watcher of the process (model/layout_watch.hpp), or removes it if null.
void set_watcher(const LayoutWatcher* watcher);

}  // namespace rung::vgpu::layout
