#pragma once
// A stand-in for what the Metal backend uses of Foundation, by the names of Apple's metal-cpp:
// objects with counted references, pools of what is lent, strings and errors. Where Foundation
// would leak or crash, this aborts with a message.

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
  /// The innermost pool of this thread will drop it.
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
  /// The pool is in place from here on.
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
  /// Lent, as Metal lends its errors.
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
