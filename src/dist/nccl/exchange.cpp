#include "dist/nccl/exchange.hpp"

namespace rung::nccl {

void Exchange::deliver(const Block& block, const Block& target, cuda::Stream stream) {
  begin_arrivals(stream);
  land(block, target);
}

void Exchange::begin_arrivals(cuda::Stream stream) {
  session_.order(stream, session_.landing());
  lands_ = true;
}

void Exchange::deliver_arrival(int number, const Block& arrived, const Block& target) {
  session_.part("arrivals", "wait for arrival", arrived.lines, session_.landing(),
                [&] { await(number, session_.landing()); });
  land(arrived, target);
}

void Exchange::land(const Block& block, const Block& target) {
  session_.part("arrivals", "copy", block.lines, session_.landing(),
                [&] { copy(driver(), block, target.data, target.pitch, session_.landing()); });
}

}  // namespace rung::nccl
