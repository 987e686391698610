#pragma once
// Helpers for metal-cpp: strings and ownership of Metal objects.
//
// Metal functions named new… and alloc transfer ownership: wrap their results with NS::TransferPtr.
// All others return objects that live until the thread's innermost autorelease pool is drained:
// retain them longer with NS::RetainPtr.

#include <Foundation/Foundation.hpp>
#include <string>

namespace rung::metal {

[[nodiscard]] inline NS::SharedPtr<NS::AutoreleasePool> autorelease_pool() {
  return NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
}

/// Converts to an autoreleased string.
inline NS::String* to_ns(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

/// The message of an error, which may be null.
inline std::string message_of(const NS::Error* error) {
  return error == nullptr ? "no reason given" : error->localizedDescription()->utf8String();
}

}  // namespace rung::metal
