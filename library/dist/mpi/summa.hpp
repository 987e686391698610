#pragma once
// SUMMA on the grid of one layer: C += alpha A B, panel by panel, while the next panels arrive.

#include "library/dist/mpi/panels.hpp"
#include "library/dist/plan/schedule.hpp"

namespace rung::dist {

/// a, b and c are in `memory`, which also multiplies them.
template <class Memory, class In, class Out>
void summa(Transfers& transfers, Memory& memory, const Layer& layer, std::int64_t width, Out alpha,
           const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
           const MatrixView<Out>& c) {
  const int row = layer.c.grid_row(transfers.rank()), col = layer.c.grid_col(transfers.rank());
  std::vector<int> along_row, along_col;
  for (int i = 0; i < layer.c.grid_cols; ++i) along_row.push_back(layer.c.rank_at(row, i));
  for (int i = 0; i < layer.c.grid_rows; ++i) along_col.push_back(layer.c.rank_at(i, col));
  Panels<Memory, In> left(transfers, memory, panel_a, layer.a.layout.cols, along_row, col, a,
                          width);
  Panels<Memory, In> right(transfers, memory, panel_b, layer.b.layout.rows, along_col, row,
                           transposed(b), width);

  const auto progress = [&] {
    left.progress();
    right.progress();
  };
  const auto start = [&](std::int64_t panel) {
    transfers.wait([&] {
      progress();
      return left.may_start(panel) && right.may_start(panel);
    });
    left.start(panel);
    right.start(panel);
    progress();
  };

  // A panel is forwarded between slices and should have reached all ranks during the multiplication
  // of one panel.
  const auto looks = static_cast<std::int64_t>(std::max(along_row.size(), along_col.size()));
  const std::int64_t panels = (layer.k_extent + width - 1) / width;
  if (panels == 0) {
    memory.multiply(0, alpha, columns(a, 0, 0), rows(b, 0, 0), beta, c, looks, progress);
  }
  if (panels > 0) start(0);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    if (panel + 1 < panels) start(panel + 1);
    transfers.wait([&] {
      progress();
      return left.is_here(panel) && right.is_here(panel);
    });
    memory.multiply(panel, alpha, left.view(panel), transposed(right.view(panel)),
                    panel == 0 ? beta : Out{1}, c, looks, progress);
  }
  transfers.wait([&] {
    progress();
    return left.may_start(0) && right.may_start(0) && left.may_start(1) && right.may_start(1);
  });
}

}  // namespace rung::dist
