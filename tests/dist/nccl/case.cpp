#include "case.hpp"

#include <cstring>

#include "../../library/cuda/fixture.hpp"

namespace rung::nccl {

std::string Case::text() const {
  return testing::PrintToString(static_cast<int>(kind)) + " on " + std::to_string(ranks) + ": " +
         std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + " transport " +
         std::to_string(static_cast<int>(transport)) + " schedule " +
         std::to_string(static_cast<int>(schedule)) + " chunks " + std::to_string(chunks) +
         " types " + std::to_string(static_cast<int>(in)) + " " +
         std::to_string(static_cast<int>(out)) + " padding " + std::to_string(padding) +
         " orders " + std::to_string(static_cast<int>(a)) + std::to_string(static_cast<int>(b)) +
         std::to_string(static_cast<int>(c));
}

double a_of(std::int64_t i, std::int64_t p) { return static_cast<double>((i * 7 + p * 3) % 5 - 2); }
double b_of(std::int64_t p, std::int64_t j) {
  return static_cast<double>((p * 5 + j * 11) % 4 - 1);
}
double c_of(std::int64_t i, std::int64_t j) { return static_cast<double>((i + 2 * j) % 7); }

double result_of(const Case& o, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t p = 0; p < o.k; ++p) sum += a_of(i, p) * b_of(p, j);
  return o.alpha * sum + (o.beta == 0 ? 0 : o.beta * c_of(i, j));
}

DevicePart::DevicePart(ElementType type, std::int64_t first_row, std::int64_t first_col,
                       std::int64_t rows, std::int64_t cols, Order order, std::int64_t padding,
                       Element* element)
    : first_row_(first_row), first_col_(first_col) {
  view_ = {nullptr, type, rows, cols, (order == Order::row_major ? cols : rows) + padding, order};
  view_.ld = std::max<std::int64_t>(view_.ld, 1);
  const std::int64_t lines = order == Order::row_major ? rows : cols;
  bytes_.assign(static_cast<std::size_t>(lines * view_.ld * bytes_of(type)), 0x5A);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) put(i, j, element(first_row + i, first_col + j));
  }
  before_ = bytes_;
  memory_ = std::make_unique<cuda::DeviceArray<unsigned char>>(vgpu::virtual_driver(), bytes_);
  view_.data = memory_->data();
}

std::string DevicePart::difference(const std::function<Element>& expected) {
  bytes_ = before_;
  for (std::int64_t i = 0; i < view_.rows; ++i) {
    for (std::int64_t j = 0; j < view_.cols; ++j) {
      put(i, j, expected(first_row_ + i, first_col_ + j));
    }
  }
  std::vector<unsigned char> got = memory_->read();
  for (std::int64_t i = 0; i < view_.rows; ++i) {
    for (std::int64_t j = 0; j < view_.cols; ++j) make_zero_positive(&got[at(i, j)]);
  }
  for (std::size_t byte = 0; byte < got.size(); ++byte) {
    if (got[byte] != bytes_[byte]) return "byte " + std::to_string(byte) + " is wrong";
  }
  return "";
}

std::size_t DevicePart::at(std::int64_t i, std::int64_t j) const {
  const std::int64_t index = view_.order == Order::row_major ? i * view_.ld + j : j * view_.ld + i;
  return static_cast<std::size_t>(index * bytes_of(view_.type));
}

void DevicePart::make_zero_positive(unsigned char* element) const {
  const auto last = static_cast<std::size_t>(bytes_of(view_.type) - 1);
  if (element[last] != 0x80) return;
  for (std::size_t byte = 0; byte < last; ++byte) {
    if (element[byte] != 0) return;
  }
  element[last] = 0;
}

void DevicePart::put(std::int64_t i, std::int64_t j, double value) {
  unsigned char* const place = &bytes_[at(i, j)];
  const auto store = [&](auto element) { std::memcpy(place, &element, sizeof element); };
  switch (view_.type) {
    case ElementType::f64: return store(value);
    case ElementType::bf16: return store(bfloat16(static_cast<float>(value)));
    case ElementType::f16: return store(float16(static_cast<float>(value)));
    default: return store(static_cast<float>(value));
  }
}

namespace {

/// The half-open range of a dimension that a rank owns; its size may differ between ranks for n and
/// k.
std::pair<std::int64_t, std::int64_t> share(std::int64_t extent, int rank, int ranks) {
  const std::int64_t first = extent * rank / ranks;
  return {first, extent * (rank + 1) / ranks - first};
}

}  // namespace

Operands::Operands(const Case& o, int rank)
    : rows_of_c(o.kind == Kind::reduce_scatter ? share(o.m, rank, o.ranks)
                                               : std::pair{INT64_C(0), o.m}),
      cols_of_c(o.kind == Kind::all_gather ? share(o.n, rank, o.ranks)
                                           : std::pair{INT64_C(0), o.n}),
      inner(o.kind == Kind::all_gather ? std::pair{INT64_C(0), o.k} : share(o.k, rank, o.ranks)),
      rows_of_a(o.kind == Kind::all_gather ? share(o.m, rank, o.ranks)
                                           : std::pair{INT64_C(0), o.m}),
      a(o.in, rows_of_a.first, inner.first, rows_of_a.second, inner.second, o.a, o.padding, a_of),
      b(o.in, inner.first, cols_of_c.first, inner.second, cols_of_c.second, o.b, o.padding, b_of),
      c(o.out, rows_of_c.first, cols_of_c.first, rows_of_c.second, cols_of_c.second, o.c, o.padding,
        c_of),
      case_(o) {}

std::string Operands::difference() {
  return c.difference([&](std::int64_t i, std::int64_t j) { return result_of(case_, i, j); });
}

void call(TensorParallel& parallel, const Case& o, const Operands& operands, cuda::Stream stream,
          std::vector<dist::TimelineSpan>* timeline) {
  const auto method = o.kind == Kind::all_gather       ? &TensorParallel::all_gather_gemm
                      : o.kind == Kind::reduce_scatter ? &TensorParallel::gemm_reduce_scatter
                                                       : &TensorParallel::gemm_all_reduce;
  (parallel.*method)(o.alpha, operands.a.input(), operands.b.input(), o.beta, operands.c.view(),
                     CudaStream(stream),
                     {.schedule = o.schedule, .chunks = o.chunks, .timeline = timeline});
}

}  // namespace rung::nccl
