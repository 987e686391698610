#pragma once
// Reports about rows of A that count only if something loads the sums of these rows.
//
// A multiplication has 64 or 128 rows, also where a kernel uses fewer: the rows after its own are whatever shared memory
// holds, other threads may overwrite them meanwhile, and their sums are never loaded. Hazards of rows of A are therefore
// held with the cells of D until a thread loads these, and dropped if new sums replace them first.

#include <cstdint>
#include <vector>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/matrix/matrix_descriptor.hpp"
#include "vgpu/model/tensor_memory_ops.hpp"

namespace rung::vgpu {

struct TensorRange;

/// The cells of D that the rows of A in one block contribute to.
struct SumCells {
  TensorAddress d;
  int rows, columns;  // of the product in this block
  int parts;          // groups of lanes among which the columns are divided
  bool halves;        // rows in 16 of each 32 lanes
};

/// A read of A by a multiplication, to find the rows that an address belongs to.
struct RowRead {
  MatrixOperand a;
  SumCells sums;
  std::vector<std::uint32_t>
      generations;  // of the first column, by 16 rows and part of the columns
};

class SumsInUse {
 public:
  using Reports = std::vector<HazardEntry>;
  static constexpr int rows_of_unit = 16;

  /// New sums, which do not depend on the earlier ones; or the columns were released.
  void begin(const TensorRange& cells);
  /// A thread loads the cells, or a multiplication reads them as A: adds the reports that are held for them.
  void use(Block& block, const TensorRange& cells);

  /// Holds the reports for 16 rows from `row` on of sums that were started now.
  void hold(Block& block, const SumCells& sums, int row, const Reports& reports);
  /// Remembers a read of A. Returns its number, from 1.
  std::uint32_t add(const MatrixOperand& a, const SumCells& sums);
  /// Holds the reports of an access to the 16 bytes at `address` that a multiplication has read as A.
  void hold(Block& block, std::uint32_t read, std::uint32_t address, const Reports& reports);

 private:
  /// Cells of 16 lanes in a column.
  struct Unit {
    std::uint32_t generation = 1, loaded = 0;  // `loaded`: the last generation that was loaded
    std::vector<std::uint32_t> held;           // indices in held_
  };
  Unit& unit(int lane, int column);
  /// The index of a report in held_, which has one for each kind and pair of instructions.
  std::uint32_t index_of(const HazardEntry& report);
  void hold_row(Block& block, const SumCells& sums, int row,
                const std::vector<std::uint32_t>* generations, const Reports& reports);

  std::vector<Unit> units_;  // empty before the first use
  std::vector<RowRead> reads_;
  Reports held_;
};

}  // namespace rung::vgpu
