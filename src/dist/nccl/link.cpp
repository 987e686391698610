#include "dist/nccl/link.hpp"

#include <algorithm>

namespace rung::nccl {
namespace {

/// Every rank sends a block to every other one.
void send_to_all(Session& session, Exchange& exchange, std::int64_t bytes) {
  const int ranks = session.ranks(), rank = session.rank();
  exchange.begin(session.side());
  for (int t = 1; t < ranks; ++t) {
    exchange.post(t - 1,
                  {.out = {exchange.outgoing(), 1, bytes, bytes},
                   .to = (rank + ranks - t) % ranks,
                   .in_lines = 1,
                   .source = (rank + t) % ranks,
                   .pitch = bytes},
                  session.side());
  }
  for (int t = 1; t < ranks; ++t) exchange.await(t - 1, session.side());
  exchange.finish(session.side());
}

/// Of a message, if a rank sends one after the other.
double seconds_of(Session& session, Exchange& exchange, std::int64_t bytes) {
  constexpr int repeats = 4;
  const cuda::DriverApi& driver = session.driver();
  cuda::Event events[2] = {};
  send_to_all(session, exchange, bytes);
  for (cuda::Event& event : events) {
    require(driver, driver.cuEventCreate(&event, 0), "cuEventCreate");
    require(driver, driver.cuEventRecord(event, session.side()), "cuEventRecord");
    if (&event == events) {
      for (int i = 0; i < repeats; ++i) send_to_all(session, exchange, bytes);
    }
  }
  session.wait(session.side());
  float milliseconds = 0;
  require(driver, driver.cuEventElapsedTime(&milliseconds, events[0], events[1]),
          "cuEventElapsedTime");
  for (const cuda::Event event : events) driver.cuEventDestroy(event);
  return static_cast<double>(milliseconds) * 1e-3 / repeats / (session.ranks() - 1);
}

}  // namespace

LinkRates measure_link(Session& session, Exchange& exchange) {
  constexpr std::int64_t small = 4 << 10, large = 8 << 20;
  exchange.reserve(large);
  const double of_small = seconds_of(session, exchange, small);
  const double of_large = seconds_of(session, exchange, large);
  return {of_small, static_cast<double>(large - small) / std::max(of_large - of_small, 1e-6)};
}

}  // namespace rung::nccl
