#pragma once
// Helpers for all users of metal-cpp: strings, and ownership of Metal's objects.
//
// Metal's functions named new… and alloc transfer ownership, to NS::TransferPtr. All others return
// objects that live until the innermost autorelease pool of the thread is drained; NS::RetainPtr
// keeps one for longer.

#include <Foundation/Foundation.hpp>
#include <string>

namespace rung::metal {

[[nodiscard]] inline NS::SharedPtr<NS::AutoreleasePool> autorelease_pool() {
  return NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
}

/// Autoreleased.
inline NS::String* to_ns(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

/// The message of an error, which may be null.
inline std::string message_of(const NS::Error* error) {
  return error == nullptr ? "no reason given" : error->localizedDescription()->utf8String();
}

}  // namespace rung::metal
