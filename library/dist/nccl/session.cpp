#include "library/dist/nccl/session.hpp"

#include <chrono>
#include <thread>

#include "rung/cuda.hpp"
#include "rung/dist_plan.hpp"

namespace rung::nccl {

using Clock = std::chrono::steady_clock;

Session::Session(Comm parent, double timeout) : backend_(backend()), timeout_(timeout) {
  if (parent == nullptr) throw Error(Status::invalid_argument, "rung: comm is null");
  require(nccl(), nccl().ncclCommUserRank(parent, &rank_), "ncclCommUserRank");
  require(nccl(), nccl().ncclCommCount(parent, &ranks_), "ncclCommCount");
  Config config;
  require(nccl(), nccl().ncclCommSplit(parent, 0, rank_, &comm_, &config), "ncclCommSplit");
  int least = 0, greatest = 0;
  require(driver(), driver().cuCtxGetStreamPriorityRange(&least, &greatest),
          "cuCtxGetStreamPriorityRange");
  for (cuda::Stream* const stream : {&side_, &landing_}) {
    require(driver(),
            driver().cuStreamCreateWithPriority(stream, cuda::stream_non_blocking, greatest),
            "cuStreamCreateWithPriority");
  }
  for (cuda::Stream& stream : products_) {
    require(driver(), driver().cuStreamCreate(&stream, cuda::stream_non_blocking),
            "cuStreamCreate");
  }
  require(driver(), driver().cuEventCreate(&event_, cuda::event_disable_timing), "cuEventCreate");
  require(driver(),
          driver().cuMemAlloc(&scratch_, max_gathered * static_cast<std::size_t>(ranks_ + 1)),
          "cuMemAlloc");
}

Session::~Session() {
  // In a failed session, work may still be in flight, so its memory is leaked.
  if (!is_alive()) return;
  driver().cuStreamSynchronize(side_);
  driver().cuMemFree(scratch_);
  driver().cuEventDestroy(event_);
  driver().cuStreamDestroy(side_);
  driver().cuStreamDestroy(landing_);
  for (const cuda::Stream stream : products_) {
    try {
      release_cuda_workspace(CudaStream(stream));
    } catch (const std::exception&) {  // the context and its memory no longer exist
    }
    driver().cuStreamDestroy(stream);
  }
  nccl().ncclCommDestroy(comm_);
}

void Session::order(cuda::Stream first, cuda::Stream second) {
  require(driver(), driver().cuEventRecord(event_, first), "cuEventRecord");
  require(driver(), driver().cuStreamWaitEvent(second, event_, 0), "cuStreamWaitEvent");
}

const char* Session::lane_of(cuda::Stream stream) const {
  static_assert(product_streams == 2);
  if (stream == products_[0]) return "products 2";
  return stream == products_[1] ? "products 3" : "products";
}

bool Session::is_capturing(cuda::Stream stream) const {
  cuda::CaptureStatus status = cuda::CaptureStatus::none;
  require(driver(), driver().cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
  return status != cuda::CaptureStatus::none;
}

void Session::require_alive() const {
  if (!is_alive()) throw dist::CommunicationError(failure_);
}

void Session::give_up(const std::string& why) {
  failure_ = "rung: " + why;
  if (release_) release_();
  nccl().ncclCommAbort(comm_);
  throw dist::CommunicationError(failure_);
}

void Session::wait(cuda::Stream stream) {
  require_alive();
  const auto begin = Clock::now();
  for (std::int64_t polls = 0;; ++polls) {
    const cuda::Result state = driver().cuStreamQuery(stream);
    if (state == cuda::Result::success) return;
    if (state != cuda::Result::not_ready) require(driver(), state, "cuStreamQuery");
    Result error = Result::success;
    require(nccl(), nccl().ncclCommGetAsyncError(comm_, &error), "ncclCommGetAsyncError");
    if (error != Result::success && error != Result::in_progress) {
      give_up(std::string("NCCL reports: ") + nccl().ncclGetErrorString(error));
    }
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > timeout_) {
      give_up("rank " + std::to_string(rank_) + " waited for the others until the timeout");
    }
    if (polls > 1000) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

std::vector<std::byte> Session::all_gather(std::span<const std::byte> mine) {
  require_alive();
  const cuda::DevicePointer gathered = scratch_ + max_gathered;
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks_));
  require(driver(), driver().cuMemcpyHtoDAsync(scratch_, mine.data(), mine.size(), side_),
          "cuMemcpyHtoDAsync");
  require(nccl(),
          nccl().ncclAllGather(reinterpret_cast<const void*>(scratch_),
                               reinterpret_cast<void*>(gathered), mine.size(), DataType::bytes,
                               comm_, side_),
          "ncclAllGather");
  wait(side_);
  require(driver(), driver().cuMemcpyDtoH(all.data(), gathered, all.size()), "cuMemcpyDtoH");
  return all;
}

}  // namespace rung::nccl
