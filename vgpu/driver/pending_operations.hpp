#pragma once
// Operations that do not run when they are called.
//
// Under a schedule (vgpu/schedule.hpp), all are held back until the host waits for them, and then run in a
// random order that streams and events allow. An operation that accesses memory of the host runs at once,
// after those that precede it: the host may poll that memory, and its accesses are found by page protection
// once the operation has run.
//
// Without a schedule, functions of the host are held back until an operation follows them or the host waits
// for them. Operations that the host makes until then are not ordered after the function, because the host
// cannot have learned from it that it has run. The program may poll for its effect, so that it runs in a
// thread of its own after 0.2 s, and sooner if that happens often.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/driver/capture.hpp"
#include "vgpu/driver/program_order.hpp"
#include "vgpu/model/schedule.hpp"

namespace rung::vgpu::driver {

struct ContextState;
struct StreamState;

class PendingOperations {
 public:
  /// Names an operation. It stays valid after the operation has run.
  struct Number {
    std::uint64_t batch = 0;
    std::size_t index = 0;
  };

  /// Holds operations back from now on, in the order of a seed; 0: runs each at once.
  void set_schedule(std::uint64_t seed);
  /// True if operations are held back. False while they run: a function of the host may call the driver.
  bool is_on() const { return schedule_.has_value() && !is_running_; }
  bool is_running() const { return is_running_; }

  /// Holds back a function of the host.
  void add_host_function(ContextState& context, StreamState& stream, Operation function);

  /// The next operation of the stream, also after the operation `other` of another one.
  Number add(ContextState& context, StreamState& stream, Operation operation,
             std::optional<Number> other = {});
  /// Runs an operation, after those that precede it.
  void run(Number last);
  /// Runs all operations of the stream, after those that precede them.
  void run(const ContextState& context, const StreamState& stream);
  void run_all();

  /// A random order of a graph's nodes; null unless operations are held back.
  Schedule* schedule() { return schedule_ ? &*schedule_ : nullptr; }

 private:
  struct Pending {
    std::shared_ptr<ContextState> context;
    StreamState* stream;
    Operation run;
    ProgramOrder::Call call;
    std::vector<std::size_t> after;
    bool has_run = false;
  };
  void run_these(std::vector<std::size_t> last);
  std::vector<std::size_t> order_of(const std::vector<std::vector<std::size_t>>& after);
  void run_one(Pending& operation);

  std::optional<Schedule> schedule_;
  std::vector<Pending> pending_;
  std::map<const StreamState*, std::size_t> last_;  // of each stream
  std::uint64_t batch_ = 1;                         // of pending_
  bool is_running_ = false;
};

}  // namespace rung::vgpu::driver
