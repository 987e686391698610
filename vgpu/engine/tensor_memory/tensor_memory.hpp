#pragma once
// The tensor memory of a block, and its allocation (PTX ISA, 9.7.16.1, "Tensor Memory", and 9.7.16.7, "Tensor
// Memory Allocation and Management Instructions").

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/engine/tensor_memory/sums_in_use.hpp"
#include "vgpu/happens_before/tensor_shadow.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/tensor_map.hpp"
#include "vgpu/model/tensor_memory_ops.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// A rectangle of cells.
struct TensorRange {
  int lane, lanes, column, columns;
};

class TensorMemory {
 public:
  /// The unit of allocation, in columns.
  static constexpr int granule = 32;

  struct Allocation {
    int column, columns;
    std::uint32_t site;
    int thread;
  };

  /// A tcgen05.alloc that waits until another warp releases columns.
  struct Waiter {
    Warp* warp;
    int split;
    const Instr* instr;
  };

  /// Allocates the lowest free range of that number of columns. Returns its first column; nullopt if none fits.
  std::optional<int> allocate(int columns, std::uint32_t site, int thread);
  /// Returns false if no allocation has this column and size.
  bool release(int column, int columns);
  bool is_allocated(int column, int columns) const;
  const std::vector<Allocation>& allocations() const { return allocations_; }

  /// 128 cells, one per lane.
  std::uint32_t* column(int index) {
    return cells_.data() + static_cast<std::size_t>(index) * tensor_lanes;
  }
  std::uint32_t& cell(int lane, int column_index) { return column(column_index)[lane]; }

  bool relinquished = false;  // tcgen05.relinquish_alloc_permit was executed
  std::vector<Waiter> waiting;
  TensorShadow shadow;
  SumsInUse in_use;

 private:
  std::array<bool, tensor_columns / granule> used_{};
  std::vector<Allocation> allocations_;
  std::vector<std::uint32_t> cells_ =
      std::vector<std::uint32_t>(std::size_t{tensor_columns} * tensor_lanes);
};

/// A tensor box in shared memory. Kept for comparison with the descriptors of matrices.
struct FilledBox {
  std::uint32_t write = 0;  // in AsyncShadow::writes
  std::uint32_t site = 0;
  std::uint32_t start = 0, pitch = 0;  // bytes: offset in shared memory, and distance of rows
  TensorSwizzle swizzle = TensorSwizzle::none;
};

/// The pipelined tcgen05 instructions of one warp, and its loads and stores of tensor memory, numbered from 1.
struct TensorWarp {
  std::uint32_t issued = 0;
  std::uint32_t covered = 0;  // number up to which commits cover all
  std::uint32_t landed = 0;   // number up to which commits have arrived
  std::vector<int> issuers;  // lanes of the instructions after `covered`; -1 if covered by a commit
  std::uint32_t loads = 0, stores = 0;
  std::uint32_t of_pair = 0, pair_site = 0;  // number of the last one with .cta_group::2
};

/// The state of a block whose kernel uses tcgen05.
struct TensorState {
  TensorMemory memory;
  std::vector<TensorWarp> warps;
  std::vector<FilledBox> boxes;  // in the order of `write`

  void start(const Block& block);
};

/// Instr::imm points at a TensorAllocationOp.
void run_tensor_allocation(Warp& warp, const Instr& instr);

TensorMemory& tensor_memory(Block& block);

/// Reports the cells that are not allocated. Returns false after a report.
bool check_allocated(Block& owner, Warp& warp, int lane, std::uint32_t site, const char* what,
                     const TensorRange& range);

/// Reports the misuse and ends the launch.
void misuse_tensor_memory(Warp& warp, int lane, std::uint32_t site, const char* what,
                          TensorAddress address, std::string message);

/// Reports allocations that the block did not release.
void finish_tensor_memory(Block& block);

/// A description such as "tensor memory, lane 32, column 8".
std::string tensor_place(TensorAddress address);

}  // namespace rung::vgpu
