// Products by packed weights on CPUs: converts some rows of weights to 16-bit numbers at a time,
// which gemm's rung for A's type multiplies while they are in cache.

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "core/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/thread_limit.hpp"
#include "library/gemm.hpp"
#include "library/weight_only.hpp"

namespace rung {
namespace {

constexpr std::int64_t panel_elements = std::int64_t{1} << 20;

int threads_of(const GemmOptions& options) {
  return options.threads > 0 ? options.threads : cpu::default_threads();
}

float scale_at(const unsigned char* scales, WeightScale type, int at) {
  if (type == WeightScale::f32) {
    float scale;
    std::memcpy(&scale, scales + at * 4, 4);
    return scale;
  }
  std::uint16_t bits;
  std::memcpy(&bits, scales + at * 2, 2);
  return type == WeightScale::bf16 ? static_cast<float>(std::bit_cast<bfloat16>(bits))
                                   : static_cast<float>(std::bit_cast<float16>(bits));
}

/// Unpacks a record to 16 rows with leading dimension `ld`, up to step k.
template <int BITS, class In>
void unpack(const unsigned char* record, const WeightLayout& layout, std::int64_t k, In* to,
            std::int64_t ld) {
  constexpr int most = 2 * WeightLayout::rows;  // scales of two groups
  float scales[most], zeros[most];
  for (int i = 0; i < layout.groups() * WeightLayout::rows; ++i) {
    scales[i] = scale_at(record + layout.scales_at(), layout.scale, i);
    zeros[i] = BITS == 8 ? 0.0f : layout.has_zeros ? record[layout.zeros_at() + i] : 8.0f;
  }
  for (int word = 0; word < layout.scales_at() / 4; ++word) {
    std::uint32_t packed;
    std::memcpy(&packed, record + word * 4, 4);
    for (int index = 0; index < 32 / BITS; ++index) {
      const auto [row, step] = place_of_weight(BITS, word, index);
      if (step >= k) continue;
      const std::uint32_t bits = packed >> (index * BITS);
      const int element =
          BITS == 8 ? static_cast<std::int8_t>(bits & 255) : static_cast<int>(bits & 15);
      const int of_group = step / layout.group * WeightLayout::rows + row;
      to[row * ld + step] = In(scales[of_group] * (static_cast<float>(element) - zeros[of_group]));
    }
  }
}

template <class T>
std::unique_ptr<T[]> matrix_memory(std::int64_t rows, std::int64_t cols) {
  if (check::overflows(rows, cols, sizeof(T))) throw std::bad_alloc();
  return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows * cols));
}

/// Rows of the weights (whole records) as 16-bit numbers.
template <class In>
class Panel {
 public:
  explicit Panel(const WeightOnlyCall& call)
      : call_(call),
        rows_(std::clamp(panel_elements / call.layout.k / WeightLayout::rows, std::int64_t{1},
                         call.layout.row_tiles()) *
              WeightLayout::rows),
        elements_(matrix_memory<In>(rows_, call.layout.k)) {}

  std::int64_t rows() const { return rows_; }
  const In* data() const { return elements_.get(); }

  void fill(std::int64_t first, std::int64_t rows, int threads) {
    cpu::parallel_for(ceil_div(rows, WeightLayout::rows), threads, [&](std::int64_t tile) {
      const WeightLayout& layout = call_.layout;
      for (std::int64_t record = 0; record < layout.records_of_rows(); ++record) {
        const std::int64_t step = record * WeightLayout::steps;
        const unsigned char* const from =
            call_.weights + layout.record_at(first / WeightLayout::rows + tile, record);
        In* const to = elements_.get() + tile * WeightLayout::rows * layout.k + step;
        layout.bits == 4 ? unpack<4>(from, layout, layout.k - step, to, layout.k)
                         : unpack<8>(from, layout, layout.k - step, to, layout.k);
      }
    });
  }

 private:
  const WeightOnlyCall& call_;
  std::int64_t rows_;
  std::unique_ptr<In[]> elements_;
};

/// A view of a matrix with one stride of 1.
template <class T>
MatrixView<T> view(T* data, std::int64_t row_stride, std::int64_t col_stride, std::int64_t rows,
                   std::int64_t cols) {
  if (col_stride == 1 && row_stride >= cols)
    return {data, rows, cols, row_stride, Order::row_major};
  return {data, rows, cols, col_stride, Order::col_major};
}

/// Computes columns of C from the same number of rows of the weights. `sums` is used if C is not
/// float.
template <class In, class Out>
void multiply(const GemmCall& g, const MatrixView<const In>& weights, std::int64_t col,
              const cpu::Products& products, float* sums) {
  const auto a = view(static_cast<const In*>(g.a.data), g.a.row_stride, g.a.col_stride, g.m, g.k);
  auto* const c = static_cast<Out*>(g.c.data) + col * g.c.col_stride;
  const auto alpha = static_cast<float>(g.alpha), beta = static_cast<float>(g.beta);
  const std::int64_t cols = weights.rows;
  if constexpr (std::is_same_v<Out, float>) {
    products.run(erased(canonical<In, float>(alpha, a, transposed(weights), beta,
                                             view(c, g.c.row_stride, g.c.col_stride, g.m, cols))));
  } else {
    products.run(erased(
        canonical<In, float>(alpha, a, transposed(weights), 0.0f, row_major(sums, g.m, cols))));
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        Out& to = c[i * g.c.row_stride + j * g.c.col_stride];
        const float sum = sums[i * cols + j];
        to = Out(beta == 0 ? sum : sum + beta * static_cast<float>(to));
      }
    }
  }
}

template <class Out>
void scale(const GemmCall& g) {
  const auto beta = static_cast<float>(g.beta);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      Out& to = static_cast<Out*>(g.c.data)[i * g.c.row_stride + j * g.c.col_stride];
      to = beta == 0 ? Out{} : Out(beta * static_cast<float>(to));
    }
  }
}

template <class In, class Out>
void run(const WeightOnlyCall& call, const GemmOptions& options) {
  const GemmCall& g = call.product;
  if (g.k == 0) return scale<Out>(g);
  Panel<In> panel(call);
  const auto sums = matrix_memory<float>(std::is_same_v<Out, float> ? 0 : g.m, panel.rows());
  const cpu::Products products({g, Order::row_major, Order::row_major, false}, options);
  for (std::int64_t first = 0; first < g.n; first += panel.rows()) {
    const std::int64_t rows = std::min(panel.rows(), g.n - first);
    panel.fill(first, rows, threads_of(options));
    multiply<In, Out>(g, row_major(panel.data(), rows, g.k), first, products, sums.get());
  }
}

}  // namespace

PackedWeights cpu::pack_weights(const PackCall& call, const GemmOptions& options) {
  const WeightLayout& layout = call.layout;
  const int words = layout.record_bytes() / 4;
  cpu::parallel_for(layout.row_tiles(), threads_of(options), [&](std::int64_t tile) {
    for (std::int64_t record = 0; record < layout.records_of_rows(); ++record) {
      auto* const to = static_cast<unsigned char*>(call.to) + layout.record_at(tile, record);
      for (int word = 0; word < words; ++word) {
        const std::uint32_t packed = packed_word(call.from, layout, tile * WeightLayout::rows,
                                                 record * WeightLayout::steps, word);
        std::memcpy(to + word * 4, &packed, 4);
      }
    }
  });
  return call.packed;
}

void cpu::gemm_weight_only(const WeightOnlyCall& call, const GemmOptions& options) {
  if (call.product.m == 0 || call.product.n == 0) return;
  switch (call.product.dtype) {
    case Dtype::bf16: return run<bfloat16, float>(call, options);
    case Dtype::f16: return run<float16, float>(call, options);
    case Dtype::bf16_bf16: return run<bfloat16, bfloat16>(call, options);
    default: return run<float16, float16>(call, options);
  }
}

}  // namespace rung
