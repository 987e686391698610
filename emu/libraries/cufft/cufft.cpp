// cuFFT by FFTW 3 (M. Frigo and S. G. Johnson, "The Design and Implementation of FFTW3", 2005), which
// computes what both document: unnormalised transforms, in half of the complex plane where one side is real.
// The library is opened when the first plan is made, so that nothing else needs it.

#include "emu/libraries/cufft/cufft.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "emu/runtime/library_call.hpp"

namespace {

using Complex = std::complex<double>;

/// The functions of FFTW's interface ("Basic Interface") that are used.
struct Fftw {
  using Plan = void*;
  Plan (*plan_complex)(int, const int*, Complex*, Complex*, int, unsigned) = nullptr;
  Plan (*plan_to_complex)(int, const int*, double*, Complex*, unsigned) = nullptr;
  Plan (*plan_to_real)(int, const int*, Complex*, double*, unsigned) = nullptr;
  void (*execute)(Plan) = nullptr;
  void (*destroy)(Plan) = nullptr;
  static constexpr unsigned estimate = 1u << 6;  // FFTW_ESTIMATE: plans without measurements

  bool is_there() const { return plan_complex != nullptr; }
};

Fftw open_fftw() {
  void* library = dlopen("libfftw3.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fputs("rung emu: cuFFT needs libfftw3.so.3; it comes with package libfftw3-double3\n",
               stderr);
    return {};
  }
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  Fftw fftw;
  find(fftw.plan_to_complex, "fftw_plan_dft_r2c");
  find(fftw.plan_to_real, "fftw_plan_dft_c2r");
  find(fftw.execute, "fftw_execute");
  find(fftw.destroy, "fftw_destroy_plan");
  find(fftw.plan_complex, "fftw_plan_dft");
  return fftw;
}

const Fftw& fftw() {
  static const Fftw functions = open_fftw();
  return functions;
}

/// Where the elements of one side are, in elements (cuFFT, "Advanced Data Layout").
struct Layout {
  std::array<std::size_t, 3> sizes{};  // of the array that holds it, as embedded
  std::size_t stride = 1, distance = 0;
};

struct Plan {
  cufftType type = CUFFT_C2C;
  std::vector<int> n;  // outermost first
  Layout in, out;
  std::size_t batch = 0;  // 0: not made yet
  bool is_basic = true;   // without an advanced data layout
  cudaStream_t stream = nullptr;
};

std::mutex mutex;
std::map<cufftHandle, Plan> plans;
cufftHandle next_plan = 1;

bool is_known(cufftType type) {
  return type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_C2C || type == CUFFT_D2Z ||
         type == CUFFT_Z2D || type == CUFFT_Z2Z;
}
bool is_single(cufftType type) { return (type & 0x40) == 0; }
bool is_real_in(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
bool is_real_out(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }

/// Elements of the innermost dimension on one side.
std::size_t innermost(const Plan& plan, bool is_complex) {
  const auto whole = static_cast<std::size_t>(plan.n.back());
  const bool halved = plan.type != CUFFT_C2C && plan.type != CUFFT_Z2Z;
  return is_complex && halved ? whole / 2 + 1 : whole;
}

std::size_t rows(const Plan& plan) {
  std::size_t count = 1;
  for (std::size_t i = 0; i + 1 < plan.n.size(); ++i) count *= static_cast<std::size_t>(plan.n[i]);
  return count;
}

/// The place of the first element of a row, without the batch.
std::size_t row_start(const Plan& plan, const Layout& layout, std::size_t row) {
  std::size_t place = 0, scale = layout.sizes[plan.n.size() - 1];
  for (std::size_t i = plan.n.size() - 1; i-- > 0;) {
    place += row % static_cast<std::size_t>(plan.n[i]) * scale;
    row /= static_cast<std::size_t>(plan.n[i]);
    scale *= layout.sizes[i];
  }
  return place;
}

/// Calls f(place in device memory, place in a dense array) for the elements of one transform.
template <class F>
void for_each_element(const Plan& plan, const Layout& layout, bool is_complex, std::size_t batch,
                      const F& f) {
  const std::size_t count = innermost(plan, is_complex);
  for (std::size_t row = 0; row < rows(plan); ++row) {
    const std::size_t start = row_start(plan, layout, row);
    for (std::size_t i = 0; i < count; ++i) {
      f(batch * layout.distance + (start + i) * layout.stride, row * count + i);
    }
  }
}

/// One more than the last element of all batches.
std::size_t span(const Plan& plan, const Layout& layout, bool is_complex) {
  std::size_t end = 0;
  for_each_element(plan, layout, is_complex, plan.batch - 1,
                   [&](std::size_t place, std::size_t) { end = std::max(end, place + 1); });
  return end;
}

template <class In, class Out, class DenseIn, class DenseOut, class MakePlan>
cufftResult transform(const Plan& plan, const void* from, void* to, std::vector<DenseIn>& dense_in,
                      std::vector<DenseOut>& dense_out, const MakePlan& make_plan) {
  constexpr bool complex_in = !std::is_floating_point_v<In>;
  constexpr bool complex_out = !std::is_floating_point_v<Out>;
  std::vector<In> in(span(plan, plan.in, complex_in));
  std::vector<Out> out(span(plan, plan.out, complex_out));
  const auto copy = [&](void* host, const void* device, std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(host, device, bytes, kind, plan.stream) == cudaSuccess &&
           cudaStreamSynchronize(plan.stream) == cudaSuccess;
  };
  // Memory between the elements of the result is left unchanged.
  const bool is_dense = plan.out.stride == 1 && rows(plan) == 1;
  if (!copy(in.data(), from, in.size() * sizeof(In), cudaMemcpyDeviceToHost) ||
      (!is_dense && !copy(out.data(), to, out.size() * sizeof(Out), cudaMemcpyDeviceToHost))) {
    return CUFFT_EXEC_FAILED;
  }
  dense_in.resize(rows(plan) * innermost(plan, complex_in));
  dense_out.resize(rows(plan) * innermost(plan, complex_out));
  const Fftw::Plan made = make_plan();
  if (made == nullptr) return CUFFT_INTERNAL_ERROR;
  for (std::size_t batch = 0; batch < plan.batch; ++batch) {
    for_each_element(plan, plan.in, complex_in, batch, [&](std::size_t place, std::size_t dense) {
      dense_in[dense] = static_cast<DenseIn>(in[place]);
    });
    fftw().execute(made);
    for_each_element(plan, plan.out, complex_out, batch, [&](std::size_t place, std::size_t dense) {
      out[place] = static_cast<Out>(dense_out[dense]);
    });
  }
  fftw().destroy(made);
  const bool stored = copy(to, out.data(), out.size() * sizeof(Out), cudaMemcpyHostToDevice);
  return stored ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

template <class Real>
cufftResult run(const Plan& plan, const void* from, void* to, int direction) {
  const int rank = static_cast<int>(plan.n.size());
  const Fftw& library = fftw();
  std::vector<Complex> a, b;
  std::vector<double> real;
  if (is_real_in(plan.type)) {
    return transform<Real, std::complex<Real>>(plan, from, to, real, b, [&] {
      return library.plan_to_complex(rank, plan.n.data(), real.data(), b.data(), Fftw::estimate);
    });
  }
  if (is_real_out(plan.type)) {
    return transform<std::complex<Real>, Real>(plan, from, to, a, real, [&] {
      return library.plan_to_real(rank, plan.n.data(), a.data(), real.data(), Fftw::estimate);
    });
  }
  return transform<std::complex<Real>, std::complex<Real>>(plan, from, to, a, b, [&] {
    return library.plan_complex(rank, plan.n.data(), a.data(), b.data(), direction, Fftw::estimate);
  });
}

/// In place and without an advanced layout, rows of real numbers are padded to the size of the
/// complex ones (cuFFT, "Data Layout").
Plan padded(Plan plan) {
  Layout& real = is_real_in(plan.type) ? plan.in : plan.out;
  real.sizes[plan.n.size() - 1] = 2 * innermost(plan, true);
  real.distance = 1;
  for (std::size_t i = 0; i < plan.n.size(); ++i) real.distance *= real.sizes[i];
  return plan;
}

/// FFTW's planner is not safe for threads, so one call runs at a time.
cufftResult execute(cufftHandle handle, cufftType type, const void* from, void* to, int direction) {
  const rung::emu::LibraryCall library("cuFFT call");
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.batch == 0) return CUFFT_INVALID_PLAN;
  if (found->second.type != type) return CUFFT_INVALID_TYPE;
  if (from == nullptr || to == nullptr) return CUFFT_INVALID_VALUE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  const bool is_real = is_real_in(type) || is_real_out(type);
  const bool is_padded = from == to && is_real && found->second.is_basic;
  const Plan plan = is_padded ? padded(found->second) : found->second;
  return is_single(type) ? run<float>(plan, from, to, direction)
                         : run<double>(plan, from, to, direction);
}

/// Without `sizes`, the elements follow each other.
Layout layout_of(const Plan& plan, const int* sizes, int stride, int distance, bool is_complex) {
  Layout layout;
  std::size_t all = 1;
  for (std::size_t i = 0; i < plan.n.size(); ++i) {
    const bool is_last = i + 1 == plan.n.size();
    layout.sizes[i] = sizes != nullptr ? static_cast<std::size_t>(sizes[i])
                      : is_last        ? innermost(plan, is_complex)
                                       : static_cast<std::size_t>(plan.n[i]);
    all *= layout.sizes[i];
  }
  layout.stride = sizes == nullptr ? 1 : static_cast<std::size_t>(stride);
  layout.distance = sizes == nullptr ? all : static_cast<std::size_t>(distance);
  return layout;
}

cufftResult make(cufftHandle handle, const std::vector<int>& n, const int* in_sizes, int in_stride,
                 int in_distance, const int* out_sizes, int out_stride, int out_distance,
                 cufftType type, int batch, size_t* work_bytes) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end()) return CUFFT_INVALID_PLAN;
  if (!is_known(type)) return CUFFT_INVALID_TYPE;
  for (const int size : n) {
    if (size < 1) return CUFFT_INVALID_SIZE;
  }
  if (batch < 1 || n.empty() || n.size() > 3) return CUFFT_INVALID_SIZE;
  if (!fftw().is_there()) return CUFFT_SETUP_FAILED;
  Plan& plan = found->second;
  plan.type = type;
  plan.n = n;
  plan.batch = static_cast<std::size_t>(batch);
  plan.is_basic = in_sizes == nullptr && out_sizes == nullptr;
  plan.in = layout_of(plan, in_sizes, in_stride, in_distance, !is_real_in(type));
  plan.out = layout_of(plan, out_sizes, out_stride, out_distance, !is_real_out(type));
  if (work_bytes != nullptr) *work_bytes = 0;
  return CUFFT_SUCCESS;
}

cufftResult make_dense(cufftHandle handle, const std::vector<int>& n, cufftType type, int batch,
                       size_t* work_bytes) {
  return make(handle, n, nullptr, 1, 0, nullptr, 1, 0, type, batch, work_bytes);
}

/// A new plan, which `make_plan` completes.
template <class MakePlan>
cufftResult create(cufftHandle* plan, const MakePlan& make_plan) {
  cufftResult result = cufftCreate(plan);
  if (result == CUFFT_SUCCESS) result = make_plan(*plan);
  if (result != CUFFT_SUCCESS && plan != nullptr) cufftDestroy(*plan);
  return result;
}

cufftResult no_work(size_t* work_bytes) {
  if (work_bytes == nullptr) return CUFFT_INVALID_VALUE;
  *work_bytes = 0;
  return CUFFT_SUCCESS;
}

cufftResult if_plan(cufftHandle plan) {
  const std::lock_guard lock(mutex);
  return plans.contains(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

}  // namespace

namespace rung::emu {

std::optional<cufftType> cufft_type(cufftHandle handle) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(handle);
  if (found == plans.end() || found->second.batch == 0) return std::nullopt;
  return found->second.type;
}

}  // namespace rung::emu

extern "C" {

cufftResult cufftCreate(cufftHandle* plan) {
  if (plan == nullptr) return CUFFT_INVALID_VALUE;
  const std::lock_guard lock(mutex);
  *plan = next_plan++;
  plans[*plan] = {};
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle plan) {
  const std::lock_guard lock(mutex);
  return plans.erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch, size_t* bytes) {
  return make_dense(plan, {n}, type, batch, bytes);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* bytes) {
  return make_dense(plan, {nx, ny}, type, 1, bytes);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t* bytes) {
  return make_dense(plan, {nx, ny, nz}, type, 1, bytes);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* in_sizes, int in_stride,
                              int in_distance, int* out_sizes, int out_stride, int out_distance,
                              cufftType type, int batch, size_t* bytes) {
  if (n == nullptr || rank < 1 || rank > 3) return CUFFT_INVALID_VALUE;
  return make(plan, {n, n + rank}, in_sizes, in_stride, in_distance, out_sizes, out_stride,
              out_distance, type, batch, bytes);
}

cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch) {
  return create(plan,
                [&](cufftHandle made) { return make_dense(made, {n}, type, batch, nullptr); });
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return create(plan,
                [&](cufftHandle made) { return make_dense(made, {nx, ny}, type, 1, nullptr); });
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return create(plan,
                [&](cufftHandle made) { return make_dense(made, {nx, ny, nz}, type, 1, nullptr); });
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_sizes, int in_stride,
                          int in_distance, int* out_sizes, int out_stride, int out_distance,
                          cufftType type, int batch) {
  return create(plan, [&](cufftHandle made) {
    return cufftMakePlanMany(made, rank, n, in_sizes, in_stride, in_distance, out_sizes, out_stride,
                             out_distance, type, batch, nullptr);
  });
}

cufftResult cufftEstimate1d(int, cufftType, int, size_t* bytes) { return no_work(bytes); }
cufftResult cufftEstimate2d(int, int, cufftType, size_t* bytes) { return no_work(bytes); }
cufftResult cufftEstimate3d(int, int, int, cufftType, size_t* bytes) { return no_work(bytes); }
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes) {
  const cufftResult result = if_plan(plan);
  return result == CUFFT_SUCCESS ? no_work(bytes) : result;
}
cufftResult cufftSetWorkArea(cufftHandle plan, void*) { return if_plan(plan); }
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) { return if_plan(plan); }
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
  const std::lock_guard lock(mutex);
  const auto found = plans.find(plan);
  if (found == plans.end()) return CUFFT_INVALID_PLAN;
  found->second.stream = stream;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                         int direction) {
  return execute(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

}  // extern "C"
