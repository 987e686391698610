// cuFFT's plans by data types. Half precision is computed in single precision and rounded.

#include "cufftXt.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "emu/libraries/cufft/cufft.hpp"
#include "rung/types.hpp"

namespace {

using rung::float16;

struct XtPlan {
  cufftType type;
  bool half, is_basic;              // without an advanced data layout
  std::size_t in_count, out_count;  // half: numbers on each side
};

std::mutex mutex;
std::map<cufftHandle, XtPlan> plans;

/// The transform between these types in single or double precision; of half, in single.
std::optional<cufftType> transform(cudaDataType in, cudaDataType out, bool& half) {
  struct Known {
    cudaDataType real, complex;
    cufftType c2c, r2c, c2r;
  };
  constexpr Known known[] = {
      {CUDA_R_32F, CUDA_C_32F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R},
      {CUDA_R_64F, CUDA_C_64F, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D},
      {CUDA_R_16F, CUDA_C_16F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R},
  };
  half = in == CUDA_R_16F || in == CUDA_C_16F;
  for (const Known& types : known) {
    if (in == types.complex && out == types.complex) return types.c2c;
    if (in == types.real && out == types.complex) return types.r2c;
    if (in == types.complex && out == types.real) return types.c2r;
  }
  return std::nullopt;
}

/// Nothing if a number does not fit.
std::optional<std::vector<int>> narrow(const long long* from, int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) {
    if (from[i] < 0 || from[i] > std::numeric_limits<int>::max()) return std::nullopt;
    result.push_back(static_cast<int>(from[i]));
  }
  return result;
}

/// Numbers on one side of a plan whose elements follow each other; a complex one counts twice.
std::size_t numbers(const std::vector<int>& n, int batch, bool is_real, bool halved) {
  std::size_t count = static_cast<std::size_t>(batch);
  for (std::size_t i = 0; i + 1 < n.size(); ++i) count *= static_cast<std::size_t>(n[i]);
  const auto last = static_cast<std::size_t>(n.back());
  return count * (is_real ? last : 2 * (halved ? last / 2 + 1 : last));
}

/// True if elements with this layout are contiguous.
bool is_dense(const std::vector<int>& n, const std::vector<int>& sizes, int stride, int distance,
              bool is_real, bool halved) {
  if (sizes.empty()) return true;
  std::vector<int> dense = n;
  if (!is_real && halved) dense.back() = dense.back() / 2 + 1;
  const std::size_t all = numbers(n, 1, is_real, halved) / (is_real ? 1 : 2);
  dense.front() = sizes.front();  // does not matter
  return stride == 1 && sizes == dense && static_cast<std::size_t>(distance) == all;
}

/// Device memory for as long as a transform takes.
class Scratch {
 public:
  explicit Scratch(std::size_t floats) {
    if (cudaMalloc(&memory_, floats * sizeof(float)) != cudaSuccess) memory_ = nullptr;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { cudaFree(memory_); }
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

cufftResult execute_single(cufftHandle plan, cufftType type, void* in, void* out, int direction) {
  const auto complex = [](void* of) { return static_cast<cufftComplex*>(of); };
  const auto wide = [](void* of) { return static_cast<cufftDoubleComplex*>(of); };
  switch (type) {
    case CUFFT_C2C: return cufftExecC2C(plan, complex(in), complex(out), direction);
    case CUFFT_R2C: return cufftExecR2C(plan, static_cast<float*>(in), complex(out));
    case CUFFT_C2R: return cufftExecC2R(plan, complex(in), static_cast<float*>(out));
    case CUFFT_Z2Z: return cufftExecZ2Z(plan, wide(in), wide(out), direction);
    case CUFFT_D2Z: return cufftExecD2Z(plan, static_cast<double*>(in), wide(out));
    case CUFFT_Z2D: return cufftExecZ2D(plan, wide(in), static_cast<double*>(out));
  }
  return CUFFT_INVALID_TYPE;
}

cufftResult execute_half(cufftHandle handle, const XtPlan& plan, const void* in, void* out,
                         int direction) {
  // In place, rows of real numbers have room for the complex ones: both sides are as long.
  const bool in_place = in == out && plan.is_basic;
  const std::size_t most = std::max(plan.in_count, plan.out_count);
  const std::size_t in_count = in_place ? most : plan.in_count;
  const std::size_t out_count = in_place ? most : plan.out_count;
  std::vector<float16> halves(in_count);
  const Scratch from(in_count), other(out_count);
  const Scratch& to = in_place ? from : other;
  if (from.get() == nullptr || to.get() == nullptr) return CUFFT_ALLOC_FAILED;
  // Work in the plan's stream comes first: these copies wait for it.
  if (cudaDeviceSynchronize() != cudaSuccess ||
      cudaMemcpy(halves.data(), in, halves.size() * sizeof(float16), cudaMemcpyDeviceToHost) !=
          cudaSuccess) {
    return CUFFT_EXEC_FAILED;
  }
  std::vector<float> floats;
  for (const float16 value : halves) floats.push_back(static_cast<float>(value));
  cudaMemcpy(from.get(), floats.data(), floats.size() * sizeof(float), cudaMemcpyHostToDevice);
  const cufftResult result = execute_single(handle, plan.type, from.get(), to.get(), direction);
  if (result != CUFFT_SUCCESS) return result;
  floats.resize(out_count);
  cudaMemcpy(floats.data(), to.get(), floats.size() * sizeof(float), cudaMemcpyDeviceToHost);
  halves.clear();
  for (const float value : floats) halves.push_back(float16(value));
  const bool stored = cudaMemcpy(out, halves.data(), halves.size() * sizeof(float16),
                                 cudaMemcpyHostToDevice) == cudaSuccess;
  return stored ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace

extern "C" {

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* in_sizes,
                                long long in_stride, long long in_distance, cudaDataType in_type,
                                long long* out_sizes, long long out_stride, long long out_distance,
                                cudaDataType out_type, long long batch, size_t* work_bytes,
                                cudaDataType) {
  if (n == nullptr || rank < 1 || rank > 3) return CUFFT_INVALID_VALUE;
  bool half = false;
  const auto type = transform(in_type, out_type, half);
  if (!type) return CUFFT_NOT_SUPPORTED;
  const long long scalars[] = {in_stride, in_distance, out_stride, out_distance, batch};
  auto sizes = narrow(n, rank), rest = narrow(scalars, 5);
  auto in = in_sizes != nullptr ? narrow(in_sizes, rank) : std::vector<int>();
  auto out = out_sizes != nullptr ? narrow(out_sizes, rank) : std::vector<int>();
  if (!sizes || !rest || !in || !out) return CUFFT_INVALID_SIZE;
  const auto [from_stride, from_distance, to_stride, to_distance, count] =
      std::array{(*rest)[0], (*rest)[1], (*rest)[2], (*rest)[3], (*rest)[4]};
  const bool from_real = *type == CUFFT_R2C, to_real = *type == CUFFT_C2R;
  const bool halved = from_real || to_real;
  if (half && (!is_dense(*sizes, *in, from_stride, from_distance, from_real, halved) ||
               !is_dense(*sizes, *out, to_stride, to_distance, to_real, halved))) {
    return CUFFT_NOT_SUPPORTED;
  }
  const auto pointer = [](std::vector<int>& list) { return list.empty() ? nullptr : list.data(); };
  const cufftResult made =
      cufftMakePlanMany(plan, rank, sizes->data(), pointer(*in), from_stride, from_distance,
                        pointer(*out), to_stride, to_distance, *type, count, work_bytes);
  if (made != CUFFT_SUCCESS) return made;
  const std::lock_guard lock(mutex);
  plans[plan] = {*type, half, in->empty() && out->empty(),
                 numbers(*sizes, count, from_real, halved),
                 numbers(*sizes, count, to_real, halved)};
  return CUFFT_SUCCESS;
}

cufftResult cufftXtGetSizeMany(cufftHandle plan, int, long long*, long long*, long long, long long,
                               cudaDataType, long long*, long long, long long, cudaDataType,
                               long long, size_t* work_bytes, cudaDataType) {
  return cufftGetSize(plan, work_bytes);
}

cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
  std::optional<XtPlan> plan;
  {
    const std::lock_guard lock(mutex);
    if (const auto found = plans.find(handle); found != plans.end()) plan = found->second;
  }
  if (plan && plan->half) return execute_half(handle, *plan, in, out, direction);
  const auto type = rung::emu::cufft_type(handle);
  if (!type) return CUFFT_INVALID_PLAN;
  return execute_single(handle, *type, in, out, direction);
}

}  // extern "C"
