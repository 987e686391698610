#pragma once
// SUMMA on the grid of one layer: C += alpha A B, panel by panel, while the next panels arrive.

#include "dist/mpi/panels.hpp"
#include "dist/plan/schedule.hpp"
#include "rung/gemm.hpp"

namespace rung::dist {

/// The parts of C between which a rank looks at its messages: as few as will do, because the operands of
/// each part are packed again. On a Xeon, parts of 4096 x 128 take 1.2 times as long as the whole.
struct Slices {
  std::int64_t rows, cols;

  /// At least `looks` of them, and none with more than `most_work` multiply-adds. They tend to be square.
  static Slices of(std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t looks) {
    constexpr std::int64_t most_work = std::int64_t{1} << 31;  // some 50 ms of a core in f64
    constexpr std::int64_t least = 64;
    Slices slices = {std::max<std::int64_t>(rows, 1), std::max<std::int64_t>(cols, 1)};
    for (std::int64_t count = 1; count < looks || slices.rows * slices.cols * depth > most_work;
         count *= 2) {
      std::int64_t& longer = slices.rows > slices.cols ? slices.rows : slices.cols;
      if (longer <= least) break;
      longer = (longer / 2 + least - 1) / least * least;
    }
    return slices;
  }
};

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

  // A panel passes from rank to rank between slices, and should have passed all while one is multiplied.
  const auto looks = static_cast<std::int64_t>(std::max(along_row.size(), along_col.size()));
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
    const Slices slices =
        looks == 1 ? Slices{c.rows, c.cols} : Slices::of(c.rows, c.cols, lines.cols, looks);
    for (std::int64_t j = 0; j < c.cols; j += slices.cols) {
      const std::int64_t cols = std::min(slices.cols, c.cols - j);
      for (std::int64_t i = 0; i < c.rows; i += slices.rows) {
        const std::int64_t some = std::min(slices.rows, c.rows - i);
        gemm(alpha, rows(lines, i, some), transposed(rows(others, j, cols)),
             panel == 0 ? beta : Out{1}, rows(columns(c, j, cols), i, some), {.threads = threads});
        progress();
      }
    }
  }
  transfers.wait([&] {
    progress();
    return left.may_start(0) && right.may_start(0) && left.may_start(1) && right.may_start(1);
  });
}

}  // namespace rung::dist
