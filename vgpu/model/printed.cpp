#include "vgpu/model/printed.hpp"

#include <utility>

namespace rung::vgpu {

void PrintRing::add(std::string text) {
  bytes_ += text.size();
  calls_.push_back(std::move(text));
  while (bytes_ > capacity_) drop_oldest();
}

void PrintRing::clear() {
  bytes_ = 0;
  calls_.clear();
}

void PrintRing::drop_oldest() {
  bytes_ -= calls_.front().size();
  calls_.pop_front();
}

std::string PrintRing::text() const {
  std::string text;
  text.reserve(bytes_);
  for (const std::string& call : calls_) text += call;
  return text;
}

void PrintedByBlock::add(std::uint64_t block, PrintRing ring) {
  if (block < first_) return;
  bytes_ += ring.bytes();
  rings_.emplace(block, std::move(ring));
  while (bytes_ > capacity_) {
    const auto oldest = rings_.begin();
    first_ = oldest->first;
    bytes_ -= oldest->second.bytes();
    if (!oldest->second.empty()) oldest->second.drop_oldest();
    bytes_ += oldest->second.bytes();
    if (oldest->second.empty()) rings_.erase(oldest);
  }
}

std::string PrintedByBlock::text() const {
  std::string text;
  text.reserve(bytes_);
  for (const auto& [block, ring] : rings_) text += ring.text();
  return text;
}

}  // namespace rung::vgpu
