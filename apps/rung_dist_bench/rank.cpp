#include "rank.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/cuda_driver/error.hpp"
#include "rung/cuda.hpp"

namespace rung::dist_bench {

std::string name(Operation operation) {
  switch (operation) {
    case Operation::all_gather_gemm: return "all_gather_gemm";
    case Operation::gemm_reduce_scatter: return "gemm_reduce_scatter";
    default: return "gemm_all_reduce";
  }
}

namespace {

cuda::Context primary_context(const cuda::DriverApi& driver, int ordinal) {
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  check(driver, driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  check(driver, driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(driver, driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  return context;
}

}  // namespace

Rank::Rank(const cuda::DriverApi& driver, int rank, int ranks, void* comm)
    : driver_(driver),
      context_(primary_context(driver, rank)),
      rank_(rank),
      ranks_(ranks),
      comm_(comm) {
  check(driver_, driver_.cuStreamCreate(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
}

void Rank::enter() const { check(driver_, driver_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

Matrix Rank::allocate(std::int64_t rows, std::int64_t cols, int seed) {
  const auto count = static_cast<std::size_t>(rows * cols);
  cuda::DevicePointer memory = 0;
  check(driver_, driver_.cuMemAlloc(&memory, count * 2), "cuMemAlloc");
  memory_.push_back(memory);
  if (seed >= 0) {
    // A period that is no multiple of a row: a block of distinct numbers, copied on.
    std::mt19937 random(static_cast<unsigned>(seed));
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<bfloat16> values(std::min<std::size_t>(count, 1'000'003));
    for (bfloat16& value : values) value = bfloat16(uniform(random));
    for (std::size_t at = 0; at < count; at += values.size()) {
      const std::size_t some = std::min(values.size(), count - at);
      check(driver_, driver_.cuMemcpyHtoD(memory + at * 2, values.data(), some * 2),
            "cuMemcpyHtoD");
    }
  }
  return row_major(reinterpret_cast<bfloat16*>(memory), rows, cols);
}

void Rank::set_up(Operation operation, const Size& size) {
  synchronize();
  forget_graphs();
  for (const cuda::DevicePointer memory : memory_) driver_.cuMemFree(memory);
  memory_.clear();
  operation_ = operation;
  const bool gathers = operation == Operation::all_gather_gemm;
  const bool scatters = operation == Operation::gemm_reduce_scatter;
  shape_ = {size.m, gathers ? size.n / ranks_ : size.n, gathers ? size.k : size.k / ranks_};
  for (std::size_t set = 0; set < sets; ++set) {
    const int seed = 2 * (rank_ + ranks_ * static_cast<int>(set));
    a_[set] = allocate(gathers ? size.m / ranks_ : size.m, shape_.k, seed);
    c_[set] = allocate(scatters ? size.m / ranks_ : size.m, shape_.n, -1);
  }
  b_ = allocate(shape_.k, shape_.n, 2 * rank_ + 1);
  gathered_ = gathers ? allocate(size.m, shape_.k, -1) : Matrix{};
  sums_ = gathers ? Matrix{} : allocate(size.m, shape_.n, -1);
  restart();
}

std::vector<float> Rank::some_rows() const {
  std::vector<float> elements;
  for (const Matrix& c : c_) {
    std::vector<bfloat16> row(static_cast<std::size_t>(c.cols));
    const std::int64_t step = std::max<std::int64_t>(1, c.rows / 13);
    for (std::int64_t i = 0; i < c.rows; i += step) {
      const auto at = reinterpret_cast<cuda::DevicePointer>(c.data + i * c.ld);
      check(driver_, driver_.cuMemcpyDtoH(row.data(), at, row.size() * 2), "cuMemcpyDtoH");
      for (const bfloat16 element : row) elements.push_back(static_cast<float>(element));
    }
  }
  return elements;
}

void Rank::keep_results() { right_ = some_rows(); }

double Rank::difference() const {
  const std::vector<float> got = some_rows();
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double right = right_[i];
    const double error = std::abs(static_cast<double>(got[i]) - right);
    if (std::isnan(error)) return INFINITY;
    most = std::max(most, error);
    largest = std::max(largest, std::abs(right));
  }
  return most / largest;
}

void Rank::poison() {
  for (const Matrix& c : c_) {
    const auto bytes = static_cast<std::size_t>(c.rows * c.cols) * 2;
    check(driver_, driver_.cuMemsetD8(reinterpret_cast<cuda::DevicePointer>(c.data), 0xFF, bytes),
          "cuMemsetD8");
  }
}

void Rank::rung(dist::TensorParallel& parallel, const dist::TensorParallelCall& call) {
  const auto method =
      operation_ == Operation::all_gather_gemm       ? &dist::TensorParallel::all_gather_gemm
      : operation_ == Operation::gemm_reduce_scatter ? &dist::TensorParallel::gemm_reduce_scatter
                                                     : &dist::TensorParallel::gemm_all_reduce;
  (parallel.*method)(1, a(), b_, 0, c(), CudaStream(stream_), call);
  end_call();
}

void Rank::rung_in_graph(dist::TensorParallel& parallel) {
  cuda::GraphExec& exec = graphs_[turn_];
  if (exec == nullptr) {
    cuda::Graph graph = nullptr;
    const std::size_t turn = turn_;
    check(driver_, driver_.cuStreamBeginCapture(stream_, cuda::CaptureMode::thread_local_only),
          "cuStreamBeginCapture");
    rung(parallel);
    turn_ = turn;
    check(driver_, driver_.cuStreamEndCapture(stream_, &graph), "cuStreamEndCapture");
    check(driver_, driver_.cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    driver_.cuGraphDestroy(graph);
  }
  check(driver_, driver_.cuGraphLaunch(exec, stream_), "cuGraphLaunch");
  end_call();
}

void Rank::forget_graphs() {
  for (cuda::GraphExec& graph : graphs_) {
    if (graph != nullptr) driver_.cuGraphExecDestroy(graph);
    graph = nullptr;
  }
}

void Rank::product(const Matrix& a, const Matrix& c, bool cublas) {
  if (cublas) return cublas_.gemm(a, b_, c, stream_);
  gemm(1.0f, a, b_, 0.0f, c, CudaStream(stream_));
}

void Rank::product_alone(bool cublas) {
  if (operation_ == Operation::all_gather_gemm) return product(gathered_, c(), cublas);
  product(a(), sums_, cublas);
}

void Rank::collective_alone() {
  const auto count = [](const Matrix& m) { return static_cast<std::size_t>(m.rows * m.cols); };
  switch (operation_) {
    case Operation::all_gather_gemm:
      return nccl_all_gather(a().data, gathered_.data, count(a()), comm_, stream_);
    case Operation::gemm_reduce_scatter:
      return nccl_reduce_scatter(sums_.data, c().data, count(c()), comm_, stream_);
    default: return nccl_all_reduce(sums_.data, c().data, count(c()), comm_, stream_);
  }
}

void Rank::nccl_and(bool cublas) {
  if (operation_ == Operation::all_gather_gemm) collective_alone();
  product_alone(cublas);
  if (operation_ != Operation::all_gather_gemm) collective_alone();
  end_call();
}

cuda::Event Rank::record() {
  cuda::Event event = nullptr;
  check(driver_, driver_.cuEventCreate(&event, 0), "cuEventCreate");
  check(driver_, driver_.cuEventRecord(event, stream_), "cuEventRecord");
  return event;
}

void Rank::synchronize() const {
  check(driver_, driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

std::string Rank::device_name() const {
  char text[128] = {};
  cuda::Device device = 0;
  check(driver_, driver_.cuCtxGetDevice(&device), "cuCtxGetDevice");
  check(driver_, driver_.cuDeviceGetName(text, sizeof text, device), "cuDeviceGetName");
  return text;
}

}  // namespace rung::dist_bench
