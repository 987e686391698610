#include "library/dist/nccl/exchange.hpp"

namespace rung::nccl {

void Exchange::begin_arrivals(cuda::Stream stream) {
  session_.order(stream, session_.landing());
  lands_ = true;
}

void Exchange::deliver(int number, const Block& arrived, const Block& target) {
  const cuda::Stream landing = session_.landing();
  session_.part("arrivals", "wait for arrival", arrived.lines, landing,
                [&] { await(number, landing); });
  session_.part("arrivals", "copy", arrived.lines, landing,
                [&] { copy(driver(), arrived, target.data, target.pitch, landing); });
}

}  // namespace rung::nccl
