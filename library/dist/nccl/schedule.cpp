#include "library/dist/nccl/schedule.hpp"

#include <algorithm>

namespace rung::nccl {

ProductStreams::ProductStreams(const Call& call, int products, const Exchange& exchange)
    : call_(call), session_(exchange.session()), products_(products) {
  // If transfers use SMs, a second concurrent product would take the SMs that the first one leaves
  // to them.
  others_ = exchange.multiprocessors() > 0 ? 0 : std::min(products - 1, Session::product_streams);
  for (int i = 0; i < others_; ++i) session_.order(call.stream, session_.products(i));
}

cuda::Stream ProductStreams::next() {
  const int number = next_++;
  const bool is_last = number == products_ - 1 && number > 1;
  if (others_ == 0 || number == 0 || is_last) return call_.stream;
  return session_.products((number - 1) % others_);
}

void ProductStreams::join() {
  for (int i = 0; i < others_; ++i) session_.order(session_.products(i), call_.stream);
}

}  // namespace rung::nccl
