#pragma once
// A stand-in for the parts of Foundation that the Metal backend uses, with the names of Apple's
// metal-cpp: reference-counted objects, autorelease pools, strings and errors. Aborts with a
// message where Foundation would leak or crash.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;

class Object {
 public:
  Object();
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

 protected:
  void add_reference();
  void drop_reference();
  /// Adds the object to the thread's innermost pool, which will release it.
  void lend();

 private:
  friend class AutoreleasePool;
  int references_ = 1;
};

template <class Class, class Base = Object>
class Referencing : public Base {
 public:
  Class* retain() {
    this->add_reference();
    return static_cast<Class*>(this);
  }
  void release() { this->drop_reference(); }
  Class* autorelease() {
    this->lend();
    return static_cast<Class*>(this);
  }
};

class AutoreleasePool final : public Referencing<AutoreleasePool> {
 public:
  static AutoreleasePool* alloc() { return new AutoreleasePool; }
  /// Makes the pool the innermost one of this thread.
  AutoreleasePool* init();
  ~AutoreleasePool() override;

 private:
  friend class Object;
  std::vector<Object*> lent_;
};

template <class Class>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(const SharedPtr& other) : object_(other.object_) {
    if (object_ != nullptr) object_->retain();
  }
  SharedPtr(SharedPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  SharedPtr& operator=(SharedPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~SharedPtr() { reset(); }

  Class* get() const { return object_; }
  Class* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_ != nullptr) std::exchange(object_, nullptr)->release();
  }

 private:
  template <class Any>
  friend SharedPtr<Any> TransferPtr(Any* object);

  Class* object_ = nullptr;
};

template <class Class>
SharedPtr<Class> TransferPtr(Class* object) {
  SharedPtr<Class> owner;
  owner.object_ = object;
  return owner;
}

template <class Class>
SharedPtr<Class> RetainPtr(Class* object) {
  object->retain();
  return TransferPtr(object);
}

enum StringEncoding : UInteger { UTF8StringEncoding = 4 };

class String final : public Referencing<String> {
 public:
  static String* string(const char* text, StringEncoding encoding);
  const char* utf8String() const { return text_.c_str(); }

 private:
  std::string text_;
};

class Error final : public Referencing<Error> {
 public:
  /// Autoreleased, like Metal's errors.
  static Error* saying(std::string text);
  String* localizedDescription() const { return String::string(text_.c_str(), UTF8StringEncoding); }

 private:
  std::string text_;
};

class URL final : public Referencing<URL> {
 public:
  static URL* fileURLWithPath(const String* path);
  const char* fileSystemRepresentation() const { return path_.c_str(); }

 private:
  std::string path_;
};

struct Range {
  static Range Make(UInteger location, UInteger length) { return {location, length}; }
  UInteger location, length;
};

}  // namespace NS
