#pragma once
// What every caller of metal-cpp needs: strings, and an end for what Metal lends.
//
// Metal's functions called new… and alloc give objects away, which NS::TransferPtr takes. All
// others lend theirs until the innermost pool of the thread is gone; NS::RetainPtr keeps one for
// longer.

#include <Foundation/Foundation.hpp>
#include <string>

namespace rung::metal {

[[nodiscard]] inline NS::SharedPtr<NS::AutoreleasePool> autorelease_pool() {
  return NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
}

/// Lent.
inline NS::String* to_ns(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

/// What an error says; it may be null.
inline std::string message_of(const NS::Error* error) {
  return error == nullptr ? "no reason given" : error->localizedDescription()->utf8String();
}

}  // namespace rung::metal
