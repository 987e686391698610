// rung-mpi-bench --gpus: librung_dist on matrices in GPU memory, a GPU for each rank, against the library
// on one of them.

#include <fmt/format.h>
#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <vector>

#include "core/cuda_driver/error.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "environment.hpp"
#include "mpi_arguments.hpp"
#include "rung/cuda.hpp"
#include "rung/dist.hpp"
#include "tools/measure/statistics.hpp"

namespace rung::dist_bench {
namespace {

/// A GPU of this machine, which becomes the calling thread's.
class Gpu {
 public:
  explicit Gpu(int rank) : api_(driver()) {
    int count = 0;
    cuda::Context context = nullptr;
    check(api_, api_.cuInit(0), "cuInit");
    check(api_, api_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    check(api_, api_.cuDeviceGet(&device_, rank % count), "cuDeviceGet");
    check(api_, api_.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
    check(api_, api_.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }
  std::string name() const {
    char text[128] = {};
    check(api_, api_.cuDeviceGetName(text, sizeof text, device_), "cuDeviceGetName");
    return text;
  }
  template <class T>
  T* upload(const std::vector<T>& values) const {
    cuda::DevicePointer memory = 0;
    const std::size_t bytes = values.size() * sizeof(T);
    check(api_, api_.cuMemAlloc(&memory, bytes + 1), "cuMemAlloc");
    check(api_, api_.cuMemcpyHtoD(memory, values.data(), bytes), "cuMemcpyHtoD");
    return reinterpret_cast<T*>(memory);
  }
  template <class T>
  std::vector<T> download(const T* data, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    check(api_,
          api_.cuMemcpyDtoH(values.data(), reinterpret_cast<cuda::DevicePointer>(data),
                            values.size() * sizeof(T)),
          "cuMemcpyDtoH");
    return values;
  }
  void synchronize() const { check(api_, api_.cuCtxSynchronize(), "cuCtxSynchronize"); }

 private:
  static const cuda::DriverApi& driver() {
    if (cuda::real_driver().api == nullptr) throw std::runtime_error(cuda::real_driver().why_not);
    return *cuda::real_driver().api;
  }

  const cuda::DriverApi& api_;
  cuda::Device device_ = 0;
};

/// The seconds of the slowest rank.
double time(const Gpu& gpu, const std::function<void()>& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  call();
  gpu.synchronize();
  double seconds = MPI_Wtime() - begin, most = 0;
  MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// Multiples of 1/8, whose sums are exact.
template <class T>
T element(std::int64_t row, std::int64_t col, int seed) {
  return static_cast<T>((row * 7 + col * 3 + seed) % 11) / 8;
}

template <class T>
void run(const Arguments& arguments) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Gpu gpu(rank);
  const std::int64_t n = arguments.n;
  const dist::Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks);
  const dist::Layout layout = dist::block_cyclic(n, n, arguments.block, arguments.block, 1, ranks);
  const std::int64_t cols = dist::local_extent(layout.cols, rank);
  std::vector<std::int64_t> mine;  // columns, in their order
  for (std::int64_t j = 0; j < n; ++j) {
    if (dist::position(layout.cols, j).proc == rank) mine.push_back(j);
  }
  const auto filled = [&](const std::vector<std::int64_t>& columns, int seed) {
    std::vector<T> values;
    for (const std::int64_t j : columns) {
      for (std::int64_t i = 0; i < n; ++i) values.push_back(element<T>(i, j, seed));
    }
    return gpu.upload(values);
  };
  std::vector<std::int64_t> all;
  for (std::int64_t j = 0; rank == 0 && j < n; ++j) all.push_back(j);
  const T *const a = filled(mine, 1), *const b = filled(mine, 2);
  const T *const whole_a = filled(all, 1), *const whole_b = filled(all, 2);
  T *const c = filled(mine, 3), *const whole_c = filled(all, 3);
  const auto spread = [&](auto* data) {
    return dist::Matrix<std::remove_pointer_t<decltype(data)>>{layout, col_major(data, n, cols)};
  };
  const CudaStream stream(nullptr);
  dist::RankTraffic traffic;
  std::vector<double> of_dist, of_one;
  for (int round = 0; round <= arguments.rounds; ++round) {  // the first warms up
    const double x = time(gpu, [&] {
      dist::gemm(grid, T{1}, spread(a), spread(b), T{0}, spread(c), stream, {.traffic = &traffic});
    });
    const double y = time(gpu, [&] {
      if (rank != 0) return;
      gemm(T{1}, col_major(whole_a, n, n), col_major(whole_b, n, n), T{0}, col_major(whole_c, n, n),
           stream);
    });
    if (round == 0) continue;
    of_dist.push_back(x);
    of_one.push_back(y);
  }
  if (rank != 0) return;
  const std::vector<T> got = gpu.download(c, n * cols), right = gpu.download(whole_c, n * n);
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(j * n + i);
      const auto of_whole = static_cast<std::size_t>(mine[static_cast<std::size_t>(j)] * n + i);
      if (got[at] == right[of_whole]) continue;
      throw std::runtime_error(
          fmt::format("C({}, {}) of rank 0 is {}, on one GPU {}", i, j, got[at], right[of_whole]));
    }
  }
  const Json json = {
      {"environment", environment()},
      {"operation", "gemm"},
      {"gpu", gpu.name()},
      {"dtype", arguments.dtype},
      {"n", n},
      {"ranks", ranks},
      {"block", arguments.block},
      {"seconds",
       {{"librung_dist", to_json(summarize(of_dist))}, {"one GPU", to_json(summarize(of_one))}}},
      {"over_one_gpu", median_ratio(of_dist, of_one)},
      {"bytes_sent", traffic.total().sent}};
  fmt::print("{}, n = {}, {} ranks with a {} each: {:.4f} s, one GPU {:.4f} s; sent {} bytes\n",
             arguments.dtype, n, ranks, gpu.name(), summarize(of_dist).median,
             summarize(of_one).median, traffic.total().sent);
  write(json, arguments.json);
}

}  // namespace

void run_on_gpus(const Arguments& arguments) {
  if (arguments.dtype == "f64") return run<double>(arguments);
  run<float>(arguments);
}

}  // namespace rung::dist_bench
