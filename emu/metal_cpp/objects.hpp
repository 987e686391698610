#pragma once
// Objects with counts of references. Each has a record of where it was made and released, which outlives
// it for a while, so that a release too many is recognised.

#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "Foundation/Foundation.hpp"
#include "emu/runtime/call_site.hpp"

struct NS::Object::Record {
  std::int64_t references = 1;
  std::int64_t internal = 0;  // of these, held by other objects
  std::int64_t pooled = 0;    // of these, that autorelease pools will release
  bool lacks_pool = false;    // autoreleased without any pool
  bool is_dead = false;
  const char* class_name = "NS::Object";
  std::uint64_t serial = 0;
  rung::emu::CallSite made, released;
};

namespace NS {

/// Reaches what objects do not show programs.
struct ObjectAccess {
  using Record = Object::Record;
  static Record& record(const Object& object) { return *object.record_; }
  static void add(Object& object) { object.add_reference(); }
  static void remove(Object& object) { object.remove_reference(); }
  static void release_later(Object& object) { object.release_later(); }
};

}  // namespace NS

namespace rung::emu::metal_cpp {

/// Held by every function of this library. Recursive, because objects release each other.
std::recursive_mutex& library_mutex();

/// Names the class of a new object.
template <class Class>
Class* named(Class* object, const char* class_name) {
  NS::ObjectAccess::record(*object).class_name = class_name;
  return object;
}

/// True if the object exists. Reports the use of a released one.
bool is_usable(const NS::Object* object);

/// Calls `function` with the object's implementation. Returns zero for no object, as Objective-C does, and
/// for a released one.
template <class Implementation, class Class, class Function>
auto ask(Class* object, const Function& function) -> std::invoke_result_t<
    Function, std::conditional_t<std::is_const_v<Class>, const Implementation&, Implementation&>> {
  using Own = std::conditional_t<std::is_const_v<Class>, const Implementation, Implementation>;
  using Result = std::invoke_result_t<Function, Own&>;
  const std::lock_guard lock(library_mutex());
  if (!is_usable(object)) return Result();
  return function(static_cast<Own&>(*object));
}

/// A reference that an object of this library holds. Programs do not leak it.
template <class Class>
class Ref {
 public:
  Ref() = default;
  Ref(Class* object) : object_(object) { add(); }
  Ref(const Ref& other) : object_(other.object_) { add(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ == nullptr) return;
    --NS::ObjectAccess::record(*object_).internal;
    NS::ObjectAccess::remove(*object_);
  }
  Class* get() const { return object_; }
  Class* operator->() const { return object_; }
  Class& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  auto operator<=>(const Ref&) const = default;

 private:
  void add() {
    if (object_ == nullptr) return;
    NS::ObjectAccess::add(*object_);
    ++NS::ObjectAccess::record(*object_).internal;
  }

  Class* object_ = nullptr;
};

/// Releases the reference of a new object when the pool in place is drained.
template <class Class>
Class* autoreleased(Class* object) {
  NS::ObjectAccess::release_later(*object);
  return object;
}

// Foundation's objects.
NS::String* new_string(std::string text);
const std::string& text_of(const NS::String* text);
/// An array that holds its objects.
NS::Array* new_array(const NS::Object* const* objects, std::size_t count);
NS::Error* new_error(const char* domain, NS::Integer code, std::string description);

/// Calls function(key, object) for each entry.
void for_each_entry(const NS::Dictionary& dictionary,
                    const std::function<void(const NS::Object&, const NS::Object&)>& function);

/// Sets the error, if the program wants it. Then returns nullptr.
std::nullptr_t fail(NS::Error** error, const char* domain, NS::Integer code,
                    std::string description);

/// Reports what Metal's validation would: an invalid use of an object.
void report_misuse(const std::string& message);

/// Objects that programs still have references to are reported as leaks.
void report_leaked_objects();

}  // namespace rung::emu::metal_cpp
