#include "measure/random/operand_pool.hpp"

#include <algorithm>

#include "core/random.hpp"
#include "cuda_driver/error.hpp"

namespace rung {
namespace {

constexpr std::int64_t period = 4194301;  // the largest prime number below 2^22
constexpr std::size_t alignment = 256;    // of cuMemAlloc

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::size_t bytes_of(std::int64_t rows, std::int64_t cols, std::size_t element) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * element;
}

template <class Pointer>
AnyMatrix<Pointer> matrix(cuda::DevicePointer at, std::int64_t rows, std::int64_t cols,
                          bool transposed) {
  const auto data = reinterpret_cast<Pointer>(at);
  return transposed ? AnyMatrix<Pointer>{data, 1, rows} : AnyMatrix<Pointer>{data, cols, 1};
}

}  // namespace

RandomElements::RandomElements(Dtype dtype, std::int64_t count) : dtype_(dtype) {
  visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    constexpr std::uint64_t seed = 1;
    const std::int64_t made = std::clamp<std::int64_t>(count, 1, period);
    bytes_.resize(static_cast<std::size_t>(made) * sizeof(In));
    auto* const elements = reinterpret_cast<In*>(bytes_.data());
    for (std::int64_t i = 0; i < made; ++i) {
      elements[i] = random_element<In>(Values::reals, seed, i);
    }
  });
}

OperandPool::OperandPool(cuda::Gpu& gpu, std::size_t input_bytes, std::size_t c_bytes)
    : gpu_(gpu), input_bytes_(input_bytes), c_bytes_(c_bytes) {}

std::size_t OperandPool::input_bytes(const Size& size, Dtype dtype) {
  const std::size_t element = rung::input_bytes(dtype);
  return aligned(bytes_of(size.m, size.k, element)) + aligned(bytes_of(size.k, size.n, element));
}

// The first time, and after a kernel that failed has destroyed the context.
void OperandPool::renew() {
  gpu_.make_current();
  if (inputs_ != nullptr && inputs_->is_present()) return;
  filled_with_ = nullptr;
  inputs_ = std::make_unique<cuda::DeviceBuffer>(gpu_, input_bytes_);
  c_ = std::make_unique<cuda::DeviceBuffer>(gpu_, c_bytes_);
}

// Uploads the elements once; the device then doubles what it has.
void OperandPool::fill(const RandomElements& elements, std::size_t bytes) {
  const cuda::DriverApi& api = gpu_.api();
  const cuda::DevicePointer begin = inputs_->address();
  const std::size_t once = elements.bytes().size();
  if (filled_with_ != &elements) {
    check(api, api.cuMemcpyHtoD(begin, elements.bytes().data(), once), "cuMemcpyHtoD");
    filled_bytes_ = once;
    filled_with_ = &elements;
  }
  while (filled_bytes_ < bytes) {
    // From a point as far into the sequence, so that the copy continues it.
    const std::size_t whole = filled_bytes_ / once * once;
    const std::size_t from = filled_bytes_ - whole;
    const std::size_t count = std::min(bytes - filled_bytes_, whole - from);
    check(api, api.cuMemcpyDtoD(begin + filled_bytes_, begin + from, count), "cuMemcpyDtoD");
    filled_bytes_ += count;
  }
}

PooledGemm OperandPool::bind(Dtype dtype, const Size& size, bool a_transposed, bool b_transposed) {
  renew();
  const std::size_t element = rung::input_bytes(dtype);
  const std::int64_t most = static_cast<std::int64_t>(input_bytes_ / element);
  const RandomElements& elements = elements_.try_emplace(dtype, dtype, most).first->second;
  fill(elements, input_bytes(size, dtype));
  const std::size_t b_begin = aligned(bytes_of(size.m, size.k, element));
  const cuda::DevicePointer a = inputs_->address();
  GemmCall call = {.dtype = dtype,
                   .m = size.m,
                   .n = size.n,
                   .k = size.k,
                   .alpha = 1,
                   .a = matrix<const void*>(a, size.m, size.k, a_transposed),
                   .b = matrix<const void*>(a + b_begin, size.k, size.n, b_transposed),
                   .beta = 0,
                   .c = matrix<void*>(c_->address(), size.m, size.n, false),
                   .on_device = true};
  return {call, &elements, static_cast<std::int64_t>(b_begin / element)};
}

void OperandPool::poison_c(const GemmCall& call) const {
  const std::size_t bytes = bytes_of(call.m, call.n, output_bytes(call.dtype));
  check(gpu_.api(), gpu_.api().cuMemsetD8(c_->address(), 0xff, bytes), "cuMemsetD8");
}

void OperandPool::download_row(std::int64_t row, std::span<std::byte> to) const {
  const auto from = static_cast<std::size_t>(row) * to.size();
  check(gpu_.api(), gpu_.api().cuMemcpyDtoH(to.data(), c_->address() + from, to.size()),
        "cuMemcpyDtoH");
}

}  // namespace rung
