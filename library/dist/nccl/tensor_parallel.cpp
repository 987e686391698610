// rung::dist::TensorParallel: validates and compares arguments and chooses a schedule, once for
// each shape.

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "library/dist/nccl/exchange.hpp"
#include "library/dist/nccl/fused_product.hpp"
#include "library/dist/nccl/model.hpp"
#include "library/dist/nccl/request.hpp"
#include "library/dist/nccl/schedule.hpp"
#include "library/dist/nccl/symmetric_memory.hpp"
#include "rung/tensor_parallel.hpp"

namespace rung::dist {

using nccl::Call, nccl::Expected, nccl::Operation, nccl::Request, nccl::Session, nccl::Terms;

namespace {

using ScheduleFunction = void (*)(const Call&, nccl::Exchange&);

ScheduleFunction function_of(Operation operation, Schedule schedule) {
  using enum Schedule;
  switch (operation) {
    case Operation::all_gather_gemm:
      return schedule == overlapped  ? nccl::all_gather_overlapped
             : schedule == fused     ? nccl::all_gather_fused
             : schedule == exchanged ? nccl::all_gather_exchanged
                                     : nccl::all_gather_sequential;
    case Operation::gemm_reduce_scatter:
      return schedule == overlapped ? nccl::reduce_scatter_overlapped
             : schedule == fused    ? nccl::reduce_scatter_fused
                                    : nccl::reduce_scatter_sequential;
    default:
      return schedule == overlapped ? nccl::all_reduce_overlapped
             : schedule == fused    ? nccl::all_reduce_fused
                                    : nccl::all_reduce_sequential;
  }
}

}  // namespace

class TensorParallel::State {
 public:
  State(void* comm, const TensorParallelOptions& options)
      : session_(static_cast<nccl::Comm>(comm), options.timeout),
        exchange_(make_exchange(options.transport)),
        is_deterministic_(options.deterministic) {
    const cuda::DriverApi& driver = session_.driver();
    nccl::require(driver, driver.cuEventCreate(&finished_, cuda::event_disable_timing),
                  "cuEventCreate");
    measure(options.bandwidth);
    if (options.deterministic) rates_ = nccl::deterministic(rates_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!session_.is_alive()) {
      exchange_.release();  // other ranks may still use its memory
      window_.release();
      return;
    }
    session_.driver().cuEventSynchronize(finished_);
    session_.driver().cuEventDestroy(finished_);
  }

  Session& session() { return session_; }
  Transport transport() const { return exchange_->transport(); }
  void run(const Request& request, cuda::Stream stream);

 private:
  /// Calls `enqueue`, waits for the stream, and returns the time spans of its parts.
  std::vector<TimelineSpan> recorded(const std::function<void()>& enqueue, cuda::Stream stream);
  std::unique_ptr<nccl::Exchange> make_exchange(Transport transport);
  int attribute(cuda::DeviceAttribute name) const;
  /// Measures the model's rates of the GPU and its links.
  void measure(double bandwidth);
  void measure_window(double bandwidth);
  int free_multiprocessors() const;
  /// The plans of a call, and of the same call when captured.
  struct Plans {
    Expected direct, captured;

    const Expected& of(bool is_captured) const { return is_captured ? captured : direct; }
  };
  Plans choose_plans(const Request& request) const;
  /// Reserves memory for calls with any of these plans. Collective.
  void reserve(const Request& request, const Plans& plans);
  /// The plan that all ranks use for a request. The first time, communicates with the other ranks.
  Expected agree(const Request& request, bool is_capturing);
  Call call_of(const Request& request, const Expected& plan, cuda::Stream stream) const;

  Session session_;
  std::unique_ptr<nccl::Exchange> exchange_;
  std::unique_ptr<nccl::SymmetricMemory> window_;  // end of the last call outside captures
  cuda::Event finished_ = nullptr;                 // completion of the last call that was not
                                                   // captured
  nccl::Rates rates_;
  int compute_capability_ = 0, multiprocessors_ = 0;
  double cycles_ = 0;  // cycles per second, summed over all SMs
  bool is_deterministic_;
  std::map<Terms, Plans> plans_;
};

std::unique_ptr<nccl::Exchange> TensorParallel::State::make_exchange(Transport transport) {
  if (transport == Transport::nccl) return make_nccl_exchange(session_);
  std::unique_ptr<nccl::Exchange> copies = make_copy_engine_exchange(session_);
  if (copies != nullptr) return copies;
  if (transport == Transport::automatic) return make_nccl_exchange(session_);
  throw Error(Status::unavailable,
              "rung: the ranks' GPUs cannot map each other's memory; use Transport::nccl");
}

int TensorParallel::State::attribute(cuda::DeviceAttribute name) const {
  const cuda::DriverApi& driver = session_.driver();
  cuda::Device device = 0;
  int value = 0;
  nccl::require(driver, driver.cuCtxGetDevice(&device), "cuCtxGetDevice");
  nccl::require(driver, driver.cuDeviceGetAttribute(&value, name, device), "cuDeviceGetAttribute");
  return value;
}

void TensorParallel::State::measure(double bandwidth) {
  using enum cuda::DeviceAttribute;
  compute_capability_ =
      10 * attribute(compute_capability_major) + attribute(compute_capability_minor);
  multiprocessors_ = attribute(multiprocessor_count);
  cycles_ = 1e3 * attribute(clock_rate) * multiprocessors_;
  constexpr double reached = 0.75;  // of the peak bandwidth, by memory-bound products
  rates_.memory =
      reached * 2e3 * attribute(memory_clock_rate) * attribute(global_memory_bus_width) / 8;
  rates_.multiprocessors = multiprocessors_;
  rates_.has_fused = compute_capability_ == 90;
  rates_.free_share = static_cast<double>(free_multiprocessors()) / multiprocessors_;
  rates_.exchange.bytes_per_second = rates_.collective.bytes_per_second = bandwidth;
  if (bandwidth == 0 && session_.ranks() > 1) {
    rates_.exchange = measure_exchange(session_, *exchange_);
    rates_.collective = measure_all_gather(session_, *exchange_);
  }
  if (session_.ranks() > 1) measure_window(bandwidth);
}

void TensorParallel::State::measure_window(double bandwidth) {
  window_ = nccl::SymmetricMemory::make(session_, nccl::bytes_of_window(session_));
  if (window_ == nullptr) return;
  rates_.symmetric.bytes_per_second = bandwidth;
  if (bandwidth == 0) {
    rates_.symmetric = nccl::measure_all_gather(session_, window_->data());
  }
}

int TensorParallel::State::free_multiprocessors() const {
  return std::max(1, multiprocessors_ - exchange_->multiprocessors());
}

Call TensorParallel::State::call_of(const Request& request, const Expected& plan,
                                    cuda::Stream stream) const {
  Call call = {.product = request.product,
               .stream = stream,
               .rank = session_.rank(),
               .ranks = session_.ranks()};
  if (plan.symmetric && window_ != nullptr) call.window = window_->data();
  int most = nccl::Exchange::max_steps / 2 / std::max(1, call.ranks - 1);
  if (plan.schedule == Schedule::fused) most = std::min(most, nccl::max_fused_parts / call.ranks);
  call.chunks = std::clamp(plan.chunks, 1, std::max(1, most));
  if (exchange_->multiprocessors() > 0) call.options.multiprocessors = free_multiprocessors();
  return call;
}

Expected TensorParallel::State::agree(const Request& request, bool is_capturing) {
  Terms mine = nccl::terms_of(request);
  const auto known = plans_.find(mine);
  const auto refusal = nccl::refusal_of(request, session_.ranks(), compute_capability_);
  if (known != plans_.end() && !refusal) return known->second.of(is_capturing);
  const Terms key = mine;
  mine.values[Terms::refused] = refusal.has_value() ? 1 : 0;
  if (is_capturing) {
    throw Error(Status::invalid_argument,
                refusal.value_or(std::string("rung: ") + name_of(request.operation) +
                                 ": the first call of a shape cannot be captured"));
  }
  struct Ballot {
    Terms terms;
    Plans plans;
  };
  const auto ballots = session_.all_gather(Ballot{mine, choose_plans(request)});
  if (refusal) throw Error(Status::invalid_argument, *refusal);
  std::vector<Terms> terms;
  for (const Ballot& ballot : ballots) terms.push_back(ballot.terms);
  if (const auto why = nccl::disagreement(request.operation, terms)) {
    throw Error(Status::invalid_argument, *why);
  }
  const Plans plans = ballots.front().plans;
  reserve(request, plans);
  plans_.emplace(key, plans);
  return plans.direct;
}

TensorParallel::State::Plans TensorParallel::State::choose_plans(const Request& request) const {
  nccl::Rates rates = rates_;
  rates.flops = cycles_ * nccl::flops_per_cycle(request.product.a.type, compute_capability_);
  const Expected direct = nccl::choose(request, session_.ranks(), rates);
  if (is_deterministic_) return {direct, direct};
  rates.has_fused = false;  // a graph would have a kernel per part: slower than other schedules
  return {direct, nccl::choose(request, session_.ranks(), rates)};
}

void TensorParallel::State::reserve(const Request& request, const Plans& plans) {
  std::int64_t bytes = 0;
  for (const Expected* const plan : {&plans.direct, &plans.captured}) {
    const Call call = call_of(request, *plan, nullptr);
    switch (request.operation) {
      case Operation::all_gather_gemm: bytes = std::max(bytes, all_gather_bytes(call)); break;
      case Operation::gemm_reduce_scatter:
        bytes = std::max(bytes, reduce_scatter_bytes(call));
        break;
      case Operation::gemm_all_reduce: bytes = std::max(bytes, all_reduce_bytes(call)); break;
    }
  }
  const cuda::DriverApi& driver = session_.driver();
  nccl::require(driver, driver.cuStreamWaitEvent(session_.side(), finished_, 0),
                "cuStreamWaitEvent");
  exchange_->reserve(bytes);
  const bool has_window = plans.direct.symmetric || plans.captured.symmetric;
  if (!has_window || bytes <= window_->bytes()) return;
  session_.wait(session_.side());
  session_.all_gather(0);  // no rank uses the window any more
  window_.reset();
  window_ = nccl::SymmetricMemory::make(session_, bytes);
  if (window_ == nullptr) {
    throw Error(Status::device_error,
                "rung: NCCL registered no symmetric window of " + std::to_string(bytes) + " bytes");
  }
}

void TensorParallel::State::run(const Request& request, cuda::Stream stream) {
  session_.require_alive();
  const cuda::DriverApi& driver = session_.driver();
  const bool captures = session_.is_capturing(stream);
  if (captures && request.call.timeline != nullptr) {
    throw Error(Status::invalid_argument, std::string("rung: ") + name_of(request.operation) +
                                              ": a call with a timeline cannot be captured");
  }
  const Expected plan = agree(request, captures);
  if (!captures) {
    nccl::require(driver, driver.cuStreamWaitEvent(stream, finished_, 0), "cuStreamWaitEvent");
  }
  const Call call = call_of(request, plan, stream);
  if (nothing_travels(request)) {
    nccl::Product alone = request.product;
    alone.a.rows = alone.c.rows;  // for an all-gather of matrices without columns
    return multiply(alone, CudaStream(stream));
  }
  const auto schedule = function_of(request.operation, plan.schedule);
  if (request.call.timeline == nullptr) {
    schedule(call, *exchange_);
  } else {
    *request.call.timeline = recorded([&] { schedule(call, *exchange_); }, stream);
  }
  if (!captures) {
    nccl::require(driver, driver.cuEventRecord(finished_, stream), "cuEventRecord");
  }
}

std::vector<TimelineSpan> TensorParallel::State::recorded(const std::function<void()>& enqueue,
                                                          cuda::Stream stream) {
  nccl::Timeline timeline(session_.driver(), stream);
  session_.record_in(&timeline);
  try {
    enqueue();
  } catch (...) {
    session_.record_in(nullptr);
    throw;
  }
  session_.record_in(nullptr);
  session_.wait(stream);
  return timeline.read();
}

TensorParallel::TensorParallel(void* comm, const TensorParallelOptions& options)
    : state_(std::make_unique<State>(comm, options)) {}
TensorParallel::~TensorParallel() = default;
TensorParallel::TensorParallel(TensorParallel&&) noexcept = default;
TensorParallel& TensorParallel::operator=(TensorParallel&&) noexcept = default;

int TensorParallel::rank() const { return state_->session().rank(); }
int TensorParallel::ranks() const { return state_->session().ranks(); }
Transport TensorParallel::transport() const { return state_->transport(); }

void TensorParallel::all_gather_gemm(double alpha, const InputMatrix& shard, const InputMatrix& b,
                                     double beta, const OutputMatrix& c, CudaStream stream,
                                     const TensorParallelCall& call) {
  state_->run({Operation::all_gather_gemm, {alpha, shard, b, beta, c}, call},
              static_cast<cuda::Stream>(stream.handle()));
}

void TensorParallel::gemm_reduce_scatter(double alpha, const InputMatrix& a, const InputMatrix& b,
                                         double beta, const OutputMatrix& shard, CudaStream stream,
                                         const TensorParallelCall& call) {
  state_->run({Operation::gemm_reduce_scatter, {alpha, a, b, beta, shard}, call},
              static_cast<cuda::Stream>(stream.handle()));
}

void TensorParallel::gemm_all_reduce(double alpha, const InputMatrix& a, const InputMatrix& b,
                                     double beta, const OutputMatrix& c, CudaStream stream,
                                     const TensorParallelCall& call) {
  state_->run({Operation::gemm_all_reduce, {alpha, a, b, beta, c}, call},
              static_cast<cuda::Stream>(stream.handle()));
}

void TensorParallel::synchronize(CudaStream stream) {
  state_->session().wait(static_cast<cuda::Stream>(stream.handle()));
}

}  // namespace rung::dist
