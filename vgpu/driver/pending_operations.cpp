#include "vgpu/driver/pending_operations.hpp"

#include <utility>

#include "vgpu/driver/call.hpp"

namespace rung::vgpu::driver {

void PendingOperations::set_schedule(std::uint64_t seed) {
  schedule_.reset();
  if (seed != 0) schedule_.emplace(seed);
}

PendingOperations::Number PendingOperations::add(ContextState& context, StreamState& stream,
                                                 Operation operation, std::optional<Number> other) {
  Pending added{process().contexts.at(context.handle),
                &stream,
                std::move(operation),
                process().order.call(),
                {}};
  for (const auto& [earlier, index] : last_) {
    if (follows(context, stream, *earlier)) added.after.push_back(index);
  }
  if (other && other->batch == batch_) added.after.push_back(other->index);
  pending_.push_back(std::move(added));
  const std::size_t index = pending_.size() - 1;
  last_[&stream] = index;
  return {batch_, index};
}

void PendingOperations::run(Number last) {
  if (last.batch == batch_) run_these({last.index});
}

void PendingOperations::run(const ContextState& context, const StreamState& stream) {
  std::vector<std::size_t> last;
  for (const auto& [earlier, index] : last_) {
    if (follows(context, stream, *earlier)) last.push_back(index);
  }
  run_these(std::move(last));
}

void PendingOperations::run_all() {
  std::vector<std::size_t> all;
  for (const auto& [stream, index] : last_) all.push_back(index);
  run_these(std::move(all));
}

/// Runs these operations and all that precede them.
void PendingOperations::run_these(std::vector<std::size_t> last) {
  if (!is_on()) return;
  std::map<std::size_t, std::size_t> position;  // of those that have not run, in `chosen`
  std::vector<std::size_t> chosen;
  while (!last.empty()) {
    const std::size_t index = last.back();
    last.pop_back();
    if (pending_[index].has_run || !position.try_emplace(index, chosen.size()).second) continue;
    chosen.push_back(index);
    last.insert(last.end(), pending_[index].after.begin(), pending_[index].after.end());
  }
  std::vector<std::vector<std::size_t>> after(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (const std::size_t other : pending_[chosen[i]].after) {
      if (const auto found = position.find(other); found != position.end()) {
        after[i].push_back(found->second);
      }
    }
  }
  is_running_ = true;
  for (const std::size_t i : random_order(after, *schedule_)) run_one(pending_[chosen[i]]);
  is_running_ = false;
  std::erase_if(last_, [&](const auto& entry) { return pending_[entry.second].has_run; });
  if (!last_.empty()) return;
  pending_.clear();
  ++batch_;
}

/// An operation after a fault does nothing. One that fails makes later calls fail, as a kernel does.
void PendingOperations::run_one(Pending& operation) {
  operation.has_run = true;
  ContextState& context = *operation.context;
  const Operation run = std::move(operation.run);
  if (context.sticky != Result::success) return;
  try {
    process().order.operate(context, *operation.stream, operation.call, [&] { run(context); });
  } catch (...) {
    context.sticky = result_of_exception();
    context.sticky_message = last_message();
  }
}

}  // namespace rung::vgpu::driver
