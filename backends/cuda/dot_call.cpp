#include "backends/cuda/dot_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/grid_limits.hpp"
#include "backends/parallel_sum.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/dtype.hpp"

namespace rung::cuda {
namespace {

DotLaunch launch_of(const DotRung& rung, const DotCall& call, int multiprocessors) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In>()(call.typed<In>(), multiprocessors);
  });
}

/// The accumulator type of a dtype.
Dtype sum_type(Dtype dtype) {
  return output_bytes(dtype) == input_bytes(dtype) ? dtype : Dtype::f32;
}

std::vector<std::byte> bytes_of(const DotCall& call) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const Dot<In> dot = call.typed<In>();
    std::vector<std::byte> bytes(sizeof dot);
    std::memcpy(bytes.data(), &dot, sizeof dot);
    return bytes;
  });
}

}  // namespace

std::optional<std::string> why_not_grid(const DotRung& rung, const DotCall& call,
                                        const Limits& limits) {
  const std::int64_t blocks = launch_of(rung, call, limits.multiprocessors).launch.grid.x;
  if (blocks <= max_grid_x) return std::nullopt;
  return fmt::format("a grid of {} blocks; at most {} are possible", blocks, max_grid_x);
}

DotCallOnGpu::DotCallOnGpu(Gpu& gpu, std::string_view id, const DotCall& call, int threads,
                           void* result)
    : gpu_(gpu), threads_(threads), sum_type_(sum_type(call.dtype)), operands_(gpu, call, result) {
  DotCall on_device = call;
  on_device.x = operands_.x();
  on_device.y = operands_.y();
  plan(id, on_device);
  place(static_cast<std::int64_t>(output_bytes(call.dtype)));
}

/// Plans the launches: one, or several if the rung reduces its own sums with further launches.
/// Addresses of sums are filled in once they are allocated.
void DotCallOnGpu::plan(std::string_view id, const DotCall& call) {
  const auto add = [&](const NamedDotRung& named, const DotCall& problem) {
    const auto index = static_cast<std::size_t>(&named - dot_rungs.data());
    steps_.push_back({kernel_of_dot(index, problem.dtype),
                      launch_of(*named.rung, problem, gpu_.limits().multiprocessors),
                      bytes_of(problem),
                      {}});
    const Step& step = steps_.back();
    gpu_.load(step.kernel, step.launch.launch.shared_bytes);
    return step.launch.sums;
  };
  std::int64_t left = add(*find_dot_rung(id), call);
  name_ = steps_.front().kernel.text();
  finish_ = steps_.front().launch.finish;
  if (finish_ != Finish::passes) return;
  const NamedDotRung& sum = *find_dot_rung("sum" + std::string(id.substr(id.find('/'))));
  while (left > 1) left = add(sum, {sum_type_, left, nullptr, 1, nullptr, 1});
}

/// Allocates memory for the sums that a launch passes to the next one or to the host.
void DotCallOnGpu::place(std::int64_t element_bytes) {
  std::int64_t workspace_bytes = 0;
  std::int64_t sums = 0;
  for (const Step& step : steps_) {
    workspace_bytes = std::max(workspace_bytes, step.launch.launch.workspace_bytes);
    sums += step.launch.sums;
  }
  workspace_.emplace(gpu_, static_cast<std::size_t>(workspace_bytes));
  workspace_->set_to_zero();
  const bool leaves_sums = finish_ == Finish::passes || finish_ == Finish::host;
  sums_.emplace(gpu_, static_cast<std::size_t>(leaves_sums ? sums * element_bytes : 0));
  auto* next = static_cast<std::byte*>(sums_->data());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    const bool is_result = finish_ != Finish::host && i + 1 == steps_.size();
    step.target = {is_result ? operands_.result().data() : next, workspace_->data()};
    if (is_result) break;
    next += step.launch.sums * element_bytes;
    if (i + 1 == steps_.size()) break;
    const DotCall again{sum_type_, step.launch.sums, step.target.result, 1, nullptr, 1};
    steps_[i + 1].problem = bytes_of(again);
  }
}

void DotCallOnGpu::run_once() {
  const DriverApi& api = gpu_.api();
  if (finish_ == Finish::zeroed) {
    const DeviceBuffer& result = operands_.result();
    check(api, api.cuMemsetD8Async(result.address(), 0, result.bytes(), gpu_.stream()),
          "cuMemsetD8Async");
  }
  for (Step& step : steps_) {
    if (step.launch.launch.grid.count() == 0) continue;
    void* arguments[] = {step.problem.data(), &step.target};
    gpu_.launch(step.kernel, step.launch.launch, arguments, threads_);
  }
  if (finish_ == Finish::host) add_up_on_host();
}

void DotCallOnGpu::add_up_on_host() {
  gpu_.wait(name_);
  host_sums_.resize(sums_->bytes());
  if (!host_sums_.empty()) {
    check(gpu_.api(), gpu_.api().cuMemcpyDtoH(host_sums_.data(), sums_->address(), sums_->bytes()),
          "cuMemcpyDtoH");
  }
  visit_dot(sum_type_, [&]<class In, class Out>(Elements<In, Out>) {
    *static_cast<Out*>(operands_.host_result()) = parallel_sum(
        reinterpret_cast<const Out*>(host_sums_.data()), steps_.front().launch.sums, threads_);
  });
}

void DotCallOnGpu::enqueue(std::int64_t calls) {
  gpu_.make_current();
  operands_.require_present(name_);
  for (std::int64_t i = 0; i < calls; ++i) run_once();
}

void DotCallOnGpu::wait() {
  gpu_.make_current();
  gpu_.wait(name_);
}

void DotCallOnGpu::download() {
  if (finish_ == Finish::host) {
    operands_.download_vectors();
  } else {
    operands_.download();
  }
}

}  // namespace rung::cuda
