#pragma once
// SUMMA on the grid of one layer: C += alpha A B, panel by panel, while the next panels arrive.

#include "dist/mpi/panels.hpp"
#include "dist/plan/schedule.hpp"
#include "rung/gemm.hpp"

namespace rung::dist {

/// Work between two looks at the messages, in multiply-adds: some milliseconds.
inline constexpr std::int64_t slice_work = std::int64_t{1} << 28;

template <class In, class Out>
void summa(Transfers& transfers, const Layer& layer, std::int64_t width, Out alpha,
           const MatrixView<const In>& a, const MatrixView<const In>& b, Out beta,
           const MatrixView<Out>& c, int threads) {
  const int row = layer.c.grid_row(transfers.rank()), col = layer.c.grid_col(transfers.rank());
  std::vector<int> along_row, along_col;
  for (int i = 0; i < layer.c.grid_cols; ++i) along_row.push_back(layer.c.rank_at(row, i));
  for (int i = 0; i < layer.c.grid_rows; ++i) along_col.push_back(layer.c.rank_at(i, col));
  Panels<In> left(transfers, panel_a, layer.a.layout.cols, along_row, col, a, width);
  Panels<In> right(transfers, panel_b, layer.b.layout.rows, along_col, row, transposed(b), width);

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
  };

  const std::int64_t panels = (layer.k_extent + width - 1) / width;
  if (panels == 0) gemm(alpha, columns(a, 0, 0), rows(b, 0, 0), beta, c, {.threads = threads});
  if (panels > 0) start(0);
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    if (panel + 1 < panels) start(panel + 1);
    transfers.wait([&] {
      progress();
      return left.is_here(panel) && right.is_here(panel);
    });
    const MatrixView<const In> lines = left.view(panel), others = right.view(panel);
    const std::int64_t line_work = std::max<std::int64_t>(lines.rows * lines.cols, 1);
    const std::int64_t all = std::max<std::int64_t>(c.cols, 1);
    const std::int64_t slice = along_row.size() * along_col.size() == 1
                                   ? all
                                   : std::max<std::int64_t>(slice_work / line_work, 64);
    for (std::int64_t j = 0; j < c.cols; j += slice) {
      const std::int64_t count = std::min(slice, c.cols - j);
      gemm(alpha, lines, transposed(rows(others, j, count)), panel == 0 ? beta : Out{1},
           columns(c, j, count), {.threads = threads});
      progress();
    }
  }
  transfers.wait([&] {
    progress();
    return left.may_start(0) && right.may_start(0) && left.may_start(1) && right.may_start(1);
  });
}

}  // namespace rung::dist
