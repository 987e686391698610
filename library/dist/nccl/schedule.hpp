#pragma once
// The schedules: the order in which parts of a product are sent, awaited and multiplied.

#include <cstdint>

#include "library/dist/nccl/exchange.hpp"
#include "library/dist/nccl/product.hpp"

namespace rung::nccl {

/// A rank's call with validated operands.
struct Call {
  Product product;
  cuda::Stream stream = nullptr;
  int rank = 0, ranks = 1;
  int chunks = 1;            // parts of a rank's rows
  CudaOptions options = {};  // for products that run during transfers
  /// The memory in which NCCL gathers A in a symmetric window (all_gather_bytes() bytes); 0: no
  /// window.
  cuda::DevicePointer window = 0;
};

/// The rank at `distance` after this one (before it, if negative).
inline int neighbour(const Call& call, int distance) {
  return (call.rank + distance + call.ranks) % call.ranks;
}

/// The rows of a chunk of a rank's `rows`.
struct Part {
  std::int64_t first, count;
};
inline Part part_of(std::int64_t rows, int chunk, int chunks) {
  const std::int64_t first = rows * chunk / chunks;
  return {first, rows * (chunk + 1) / chunks - first};
}

/// Allocates consecutive places in staging memory. All ranks allocate the same ones.
class Places {
 public:
  /// A matrix of `rows` rows, stored like `like`, with lines aligned to 16 bytes for TMA.
  struct Place {
    std::int64_t offset, pitch;
  };
  template <class Pointer>
  Place next(const AnyMatrixView<Pointer>& like, std::int64_t rows) {
    const bool by_rows = like.order == Order::row_major;
    const std::int64_t width = (by_rows ? like.cols : rows) * bytes_of(like.type);
    const Place place = {bytes_, (width + 15) / 16 * 16};
    bytes_ += ((by_rows ? rows : like.cols) * place.pitch + 255) / 256 * 256;
    return place;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

/// The matrix of `rows` rows at a place, stored like `like`.
template <class Pointer>
OutputMatrix staged(cuda::DevicePointer memory, const Places::Place& place,
                    const AnyMatrixView<Pointer>& like, std::int64_t rows) {
  return {reinterpret_cast<void*>(memory + static_cast<cuda::DevicePointer>(place.offset)),
          like.type,
          rows,
          like.cols,
          place.pitch / bytes_of(like.type),
          like.order};
}

/// The streams of an all-gather's products. A product in another stream than its predecessor begins
/// as soon as SMs become free, and has already waited for its arrival by then. The first product is
/// in the caller's stream and, with more than two, so is the last one: neither then waits for
/// another stream.
class ProductStreams {
 public:
  /// For `products` products, after the current work of the caller's stream.
  ProductStreams(const Call& call, int products, const Exchange& exchange);
  /// The stream of the next product.
  cuda::Stream next();
  /// Later work of the caller's stream waits for all products.
  void join();

 private:
  const Call& call_;
  Session& session_;
  int products_;
  int others_;  // streams in addition to the caller's
  int next_ = 0;
};

/// multiply() and add() record their work in the call's timeline.
inline void multiply(const Product& product, const Exchange& exchange, cuda::Stream stream,
                     const CudaOptions& options = {}) {
  exchange.session().part(exchange.session().lane_of(stream), "product", product.c.rows, stream,
                          [&] { multiply(product, CudaStream(stream), options); });
}
/// Computes c = beta c + addend.
inline void add(const Call& call, const InputMatrix& addend, double beta, const OutputMatrix& c,
                const Exchange& exchange) {
  exchange.session().part("products", "add", c.rows, call.stream,
                          [&] { add(addend, beta, c, CudaStream(call.stream)); });
}
inline void await(int number, Exchange& exchange, cuda::Stream stream) {
  exchange.session().part(exchange.session().lane_of(stream), "wait for arrival", 0, stream,
                          [&] { exchange.await(number, stream); });
}

/// The schedules, and the number of bytes of staging memory for each operation.
/// - overlapped: parts are transferred while others are multiplied.
/// - fused: overlapped in a single kernel whose tiles wait for arrivals and whose finished parts
///   are sent while it runs. Only with copy engines.
/// - sequential: NCCL's collective, before or after one product of all rows.
/// - exchanged: sequential, with copy engines instead of NCCL. Not for sums, which copy engines
///   cannot add.
void all_gather_overlapped(const Call& call, Exchange& exchange);
void all_gather_fused(const Call& call, Exchange& exchange);
void all_gather_exchanged(const Call& call, Exchange& exchange);
void all_gather_sequential(const Call& call, Exchange& exchange);
void reduce_scatter_overlapped(const Call& call, Exchange& exchange);
void reduce_scatter_fused(const Call& call, Exchange& exchange);
void reduce_scatter_sequential(const Call& call, Exchange& exchange);
void all_reduce_overlapped(const Call& call, Exchange& exchange);
void all_reduce_fused(const Call& call, Exchange& exchange);
void all_reduce_sequential(const Call& call, Exchange& exchange);
std::int64_t all_gather_bytes(const Call& call);
std::int64_t reduce_scatter_bytes(const Call& call);
std::int64_t all_reduce_bytes(const Call& call);

}  // namespace rung::nccl
