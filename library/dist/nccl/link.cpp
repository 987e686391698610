#include "library/dist/nccl/link.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "library/dist/nccl/collectives.hpp"

namespace rung::nccl {
namespace {

/// Every rank sends a block to every other rank.
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

/// The time per message that a rank sends in a call: the minimum of several measurements.
double seconds_of(Session& session, const std::function<void()>& call) {
  constexpr int tries = 3, repeats = 4;
  const cuda::DriverApi& driver = session.driver();
  const auto record = [&] {
    cuda::Event event = nullptr;
    require(driver, driver.cuEventCreate(&event, 0), "cuEventCreate");
    require(driver, driver.cuEventRecord(event, session.side()), "cuEventRecord");
    return event;
  };
  float least = std::numeric_limits<float>::infinity();
  for (int time = 0; time < tries; ++time) {
    call();
    const cuda::Event begin = record();
    for (int i = 0; i < repeats; ++i) call();
    const cuda::Event end = record();
    session.wait(session.side());
    float milliseconds = 0;
    require(driver, driver.cuEventElapsedTime(&milliseconds, begin, end), "cuEventElapsedTime");
    for (const cuda::Event event : {begin, end}) driver.cuEventDestroy(event);
    least = std::min(least, milliseconds);
  }
  return static_cast<double>(least) * 1e-3 / repeats / (session.ranks() - 1);
}

constexpr std::int64_t small = 4 << 10;
constexpr std::int64_t many = 16 << 20, many_in_window = 4 << 20;  // windows: small messages only

LinkRates measure(Session& session, std::int64_t large,
                  const std::function<void(std::int64_t)>& send) {
  const double of_small = seconds_of(session, [&] { send(small); });
  const double of_large = seconds_of(session, [&] { send(large); });
  return {of_small, static_cast<double>(large - small) / std::max(of_large - of_small, 1e-6)};
}

}  // namespace

LinkRates measure_exchange(Session& session, Exchange& exchange) {
  exchange.reserve(many * session.ranks());
  return measure(session, many, [&](std::int64_t bytes) { send_to_all(session, exchange, bytes); });
}

LinkRates measure_all_gather(Session& session, Exchange& exchange) {
  exchange.reserve(many * session.ranks());
  return measure(session, many, [&](std::int64_t bytes) {
    all_gather(session, exchange.incoming(), exchange.outgoing(), bytes, session.side());
  });
}

std::int64_t bytes_of_window(const Session& session) { return many_in_window * session.ranks(); }

LinkRates measure_all_gather(Session& session, cuda::DevicePointer window) {
  return measure(session, many_in_window, [&](std::int64_t bytes) {
    const auto own = static_cast<cuda::DevicePointer>(session.rank() * bytes);
    all_gather(session, window + own, window, bytes, session.side());
  });
}

}  // namespace rung::nccl
