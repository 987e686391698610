#include "backends/metal/dot_call.hpp"

#include <algorithm>

#include "backends/host_storage.hpp"
#include "backends/parallel_sum.hpp"
#include "backends/rungs/metal.hpp"

namespace rung::metal {
namespace {

/// The accumulator type of a dtype.
Dtype sum_type(Dtype dtype) { return dtype == Dtype::i32 ? Dtype::i32 : Dtype::f32; }

constexpr std::int64_t sum_bytes = 4;  // per vector

}  // namespace

DotCallOnDevice::DotCallOnDevice(Device& device, std::string_view id, const DotRung& rung,
                                 const DotCall& call, int threads, void* result)
    : device_(device),
      rung_(rung),
      threads_(threads),
      sum_type_(sum_type(call.dtype)),
      x_(device, host_storage_of_x(call, device.is_virtual()), call.x),
      y_(device, host_storage_of_y(call, device.is_virtual()), call.y),
      host_result_(result) {
  plan(id, call);
}

/// Plans the launches: one, or several if the rung reduces its own sums with further launches.
void DotCallOnDevice::plan(std::string_view id, const DotCall& call) {
  const auto vector_bytes = 4 * static_cast<std::int64_t>(input_bytes(call.dtype));
  const bool are_vectors = call.incx == 1 && call.incy == 1 && x_.is_aligned(vector_bytes) &&
                           y_.is_aligned(vector_bytes);
  const std::string again = std::string(rung_.entry).append("_again");
  std::int64_t end = 0;
  const auto add = [&](const std::string& kernel, const DotScalars& scalars, std::int64_t from) {
    const Launch launch = rung_.launch(scalars.n);
    steps_.push_back({device_.pipeline(id, kernel), launch, scalars, from, end});
    end += rung_.sums(scalars.n) + rung_.scratch * launch.threadgroups.x;
  };
  add(kernel_name(rung_.entry, call.dtype), {call.n, call.incx, call.incy, are_vectors}, 0);
  if (rung_.finish == Finish::passes) {
    for (std::int64_t left = rung_.sums(call.n); left > 1; left = rung_.sums(left)) {
      add(kernel_name(again, sum_type_), {left, 1, 1, 0}, steps_.back().to);
    }
  }
  result_at_ = steps_.back().to * sum_bytes;
  sums_ = device_.allocate(std::max(end, std::int64_t{1}) * sum_bytes);
}

void DotCallOnDevice::run_once() {
  if (rung_.finish == Finish::zeroed) device_.set_to_zero(*sums_, 0, sum_bytes);
  for (const Step& step : steps_) {
    if (step.launch.threadgroups.count() == 0) continue;
    const Argument sums_before = {{}, sums_.get(), step.from * sum_bytes};
    const bool is_first = &step == &steps_.front();
    const Argument arguments[] = {{.bytes = std::as_bytes(std::span(&step.scalars, 1))},
                                  is_first ? x_.argument() : sums_before,
                                  is_first ? y_.argument() : Argument(),
                                  {{}, sums_.get(), step.to * sum_bytes}};
    device_.dispatch(step.pipeline, step.launch, arguments, threads_);
  }
  if (ends_on_host()) add_up_on_host();
}

void DotCallOnDevice::add_up_on_host() {
  device_.wait();
  const std::int64_t count = rung_.sums(steps_.front().scalars.n);
  host_sums_.resize(static_cast<std::size_t>(count * sum_bytes));
  sums_->read(host_sums_.data(), 0, count * sum_bytes);
  visit_dot(sum_type_, [&]<class In, class Out>(Elements<In, Out>) {
    *static_cast<Out*>(host_result_) =
        parallel_sum(reinterpret_cast<const Out*>(host_sums_.data()), count, threads_);
  });
}

void DotCallOnDevice::enqueue(std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) run_once();
}

void DotCallOnDevice::download() {
  if (!ends_on_host()) sums_->read(host_result_, result_at_, sum_bytes);
  x_.download();
  y_.download();
}

}  // namespace rung::metal
