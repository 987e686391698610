#pragma once
// Foundation by metal-cpp's names, as far as programs that compute use it. Declarations follow Apple's
// documentation of Foundation; emu/metal_cpp/foundation.cpp has the definitions, so the macros
// NS_PRIVATE_IMPLEMENTATION and the like have nothing to do.

// Programs rely on what the headers of Apple's SDK and of libc++ include, such as MIN and MAX.
#include <sys/param.h>

#include <algorithm>
#include <cassert>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "objc/objc.h"

using CFTimeInterval = double;

#pragma GCC visibility push(default)
namespace NS {

using Integer = std::intptr_t;
using UInteger = std::uintptr_t;
using TimeInterval = double;
inline constexpr Integer IntegerMax = INTPTR_MAX;
inline constexpr Integer IntegerMin = INTPTR_MIN;
inline constexpr UInteger UIntegerMax = UINTPTR_MAX;
inline constexpr Integer NotFound = IntegerMax;

enum ComparisonResult : Integer { OrderedAscending = -1, OrderedSame = 0, OrderedDescending = 1 };

class Array;
class Data;
class Dictionary;
class String;

struct Range {
  static Range Make(UInteger location, UInteger length) { return {location, length}; }
  Range() = default;
  Range(UInteger at, UInteger count) : location(at), length(count) {}
  bool Equal(const Range& other) const {
    return location == other.location && length == other.length;
  }
  bool LocationInRange(UInteger at) const { return at >= location && at < Max(); }
  UInteger Max() const { return location + length; }
  UInteger location = 0, length = 0;
};

/// An object with a count of references. It is created with one, and it is destroyed with the last.
class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  void* operator new(std::size_t bytes);
  void operator delete(void* memory);

  UInteger retainCount() const;
  virtual UInteger hash() const;
  virtual bool isEqual(const Object* other) const;
  virtual String* description() const;
  String* debugDescription() const { return description(); }

 protected:
  Object();
  virtual ~Object();

  void add_reference();
  void remove_reference();
  void release_later();

 private:
  friend struct ObjectAccess;
  struct Record;
  Record* record_;
};

template <class Class, class Base = Object>
class Referencing : public Base {
 public:
  Class* retain() {
    this->add_reference();
    return static_cast<Class*>(this);
  }
  void release() { this->remove_reference(); }
  Class* autorelease() {
    this->release_later();
    return static_cast<Class*>(this);
  }
};

template <class Class, class Base = Object>
class Copying : public Referencing<Class, Base> {
 public:
  Class* copy() const { return const_cast<Copying*>(this)->retain(); }
};

template <class Class, class Base = Object>
class SecureCoding : public Referencing<Class, Base> {};

/// An owner of one reference.
template <class Class>
class SharedPtr {
 public:
  SharedPtr() = default;
  SharedPtr(std::nullptr_t) {}
  SharedPtr(const SharedPtr& other) : object_(other.object_) { retain(); }
  SharedPtr(SharedPtr&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  template <class Other, class = std::enable_if_t<std::is_convertible_v<Other*, Class*>>>
  SharedPtr(const SharedPtr<Other>& other) : object_(other.get()) {
    retain();
  }
  template <class Other, class = std::enable_if_t<std::is_convertible_v<Other*, Class*>>>
  SharedPtr(SharedPtr<Other>&& other) noexcept : object_(other.get()) {
    other.detach();
  }
  SharedPtr& operator=(SharedPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~SharedPtr() { reset(); }

  Class* get() const { return object_; }
  Class* operator->() const { return object_; }
  Class& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() {
    if (object_ != nullptr) object_->release();
    object_ = nullptr;
  }
  /// Gives the reference up without releasing it.
  void detach() { object_ = nullptr; }

 private:
  template <class Other>
  friend SharedPtr<Other> TransferPtr(Other* object);

  void retain() {
    if (object_ != nullptr) object_->retain();
  }

  Class* object_ = nullptr;
};

template <class A, class B>
bool operator==(const SharedPtr<A>& a, const SharedPtr<B>& b) {
  return a.get() == b.get();
}
template <class A, class B>
bool operator!=(const SharedPtr<A>& a, const SharedPtr<B>& b) {
  return a.get() != b.get();
}
template <class A>
bool operator==(const SharedPtr<A>& a, std::nullptr_t) {
  return a.get() == nullptr;
}
template <class A>
bool operator!=(const SharedPtr<A>& a, std::nullptr_t) {
  return a.get() != nullptr;
}

/// Takes over the caller's reference.
template <class Class>
SharedPtr<Class> TransferPtr(Class* object) {
  SharedPtr<Class> pointer;
  pointer.object_ = object;
  return pointer;
}

/// Adds a reference to the caller's.
template <class Class>
SharedPtr<Class> RetainPtr(Class* object) {
  if (object != nullptr) object->retain();
  return TransferPtr(object);
}

class AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init();
  void release() { remove_reference(); }
  void drain() { remove_reference(); }
  AutoreleasePool* retain() {
    add_reference();
    return this;
  }
  void addObject(Object* object);
  static void showPools() {}
};

enum StringEncoding : UInteger {
  ASCIIStringEncoding = 1,
  UTF8StringEncoding = 4,
  ISOLatin1StringEncoding = 5,
  UnicodeStringEncoding = 10,
  UTF16StringEncoding = 10,
};
using StringCompareOptions = UInteger;
enum : StringCompareOptions { CaseInsensitiveSearch = 1, LiteralSearch = 2, BackwardsSearch = 4 };
using unichar = unsigned short;

class String : public Copying<String> {
 public:
  static String* string();
  static String* string(const String* text);
  static String* string(const char* text, UInteger encoding);
  static String* alloc();
  String* init();
  String* init(const String* text);
  String* init(const char* text, UInteger encoding);
  String* init(void* bytes, UInteger length, UInteger encoding, bool frees_bytes);

  unichar character(UInteger index) const;
  UInteger length() const;
  UInteger lengthOfBytes(UInteger encoding) const;
  UInteger maximumLengthOfBytes(UInteger encoding) const { return lengthOfBytes(encoding); }
  const char* cString(UInteger encoding) const;
  const char* utf8String() const;
  const char* fileSystemRepresentation() const { return utf8String(); }
  bool isEqualToString(const String* other) const;
  Range rangeOfString(const String* text, StringCompareOptions options) const;
  String* stringByAppendingString(const String* other) const;
  ComparisonResult caseInsensitiveCompare(const String* other) const;

  UInteger hash() const override;
  bool isEqual(const Object* other) const override;
  String* description() const override;
};

namespace detail {
const String* constant_string(const char* text);
}
/// A string that lives as long as the program.
template <std::size_t N>
const String* MakeConstantString(const char (&text)[N]) {
  return detail::constant_string(text);
}

class Value : public Copying<Value> {
 public:
  static Value* value(const void* pointer);
  void* pointerValue() const;
};

class Number : public Copying<Number, Value> {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  static Number* number(T value) {
    return std::is_floating_point_v<T> ? of_double(static_cast<double>(value))
                                       : of_integer(static_cast<long long>(value));
  }
  char charValue() const { return static_cast<char>(longLongValue()); }
  unsigned char unsignedCharValue() const { return static_cast<unsigned char>(longLongValue()); }
  short shortValue() const { return static_cast<short>(longLongValue()); }
  unsigned short unsignedShortValue() const { return static_cast<unsigned short>(longLongValue()); }
  int intValue() const { return static_cast<int>(longLongValue()); }
  unsigned int unsignedIntValue() const { return static_cast<unsigned int>(longLongValue()); }
  long longValue() const { return static_cast<long>(longLongValue()); }
  unsigned long unsignedLongValue() const { return static_cast<unsigned long>(longLongValue()); }
  unsigned long long unsignedLongLongValue() const {
    return static_cast<unsigned long long>(longLongValue());
  }
  Integer integerValue() const { return static_cast<Integer>(longLongValue()); }
  UInteger unsignedIntegerValue() const { return static_cast<UInteger>(longLongValue()); }
  bool boolValue() const { return longLongValue() != 0; }
  float floatValue() const { return static_cast<float>(doubleValue()); }
  long long longLongValue() const;
  double doubleValue() const;
  String* stringValue() const { return description(); }
  bool isEqual(const Object* other) const override;
  UInteger hash() const override;
  String* description() const override;

 private:
  static Number* of_double(double value);
  static Number* of_integer(long long value);
};

/// Gives the objects of a collection one by one, then null.
class ObjectEnumerator : public Object {
 public:
  Object* next();
};
template <class Type = Object>
class Enumerator : public Referencing<Enumerator<Type>, ObjectEnumerator> {
 public:
  Type* nextObject() { return static_cast<Type*>(this->next()); }
};

class Array : public Copying<Array> {
 public:
  static Array* array();
  static Array* array(const Object* object);
  static Array* array(const Object* const* objects, UInteger count);
  static Array* alloc();
  Array* init();
  Array* init(const Object* const* objects, UInteger count);

  template <class Type = Object>
  Type* object(UInteger index) const {
    return static_cast<Type*>(at(index));
  }
  UInteger count() const;
  String* description() const override;

 private:
  Object* at(UInteger index) const;
};

class Dictionary : public Copying<Dictionary> {
 public:
  static Dictionary* dictionary();
  static Dictionary* dictionary(const Object* object, const Object* key);
  static Dictionary* dictionary(const Object* const* objects, const Object* const* keys,
                                UInteger count);
  static Dictionary* alloc();
  Dictionary* init();
  Dictionary* init(const Object* const* objects, const Object* const* keys, UInteger count);

  template <class Type = Object>
  Type* object(const Object* key) const {
    return static_cast<Type*>(find(key));
  }
  template <class Key = Object>
  Enumerator<Key>* keyEnumerator() const {
    return static_cast<Enumerator<Key>*>(keys());
  }
  UInteger count() const;

 private:
  ObjectEnumerator* keys() const;
  Object* find(const Object* key) const;
};

class Data : public Copying<Data> {
 public:
  static Data* data(const void* bytes, UInteger length);
  void* mutableBytes() const;
  const void* bytes() const { return mutableBytes(); }
  UInteger length() const;
};

class URL : public Copying<URL> {
 public:
  static URL* fileURLWithPath(const String* path);
  static URL* alloc();
  URL* init();
  URL* init(const String* text);
  URL* initFileURLWithPath(const String* path);
  const char* fileSystemRepresentation() const;
  String* path() const;
  String* description() const override { return path(); }
};

using ErrorDomain = String*;
class Error : public Copying<Error> {
 public:
  static Error* error(String* domain, Integer code, Dictionary* information);
  static Error* alloc();
  Error* init();
  Error* init(String* domain, Integer code, Dictionary* information);
  Integer code() const;
  String* domain() const;
  Dictionary* userInfo() const;
  String* localizedDescription() const;
  Array* localizedRecoveryOptions() const { return nullptr; }
  String* localizedRecoverySuggestion() const { return nullptr; }
  String* localizedFailureReason() const { return nullptr; }
  String* description() const override;
};
extern String* const CocoaErrorDomain;
extern String* const LocalizedDescriptionKey;

class Date : public Copying<Date> {
 public:
  static Date* date();
  static Date* dateWithTimeIntervalSinceNow(TimeInterval seconds);
  TimeInterval timeIntervalSinceNow() const;
};

class ProcessInfo : public Referencing<ProcessInfo> {
 public:
  static ProcessInfo* processInfo();
  UInteger processorCount() const;
  UInteger activeProcessorCount() const { return processorCount(); }
  unsigned long long physicalMemory() const;
  TimeInterval systemUptime() const;
  String* processName() const;
  int processIdentifier() const;
  String* hostName() const;
  String* operatingSystemVersionString() const;
  bool isLowPowerModeEnabled() const { return false; }
  bool isiOSAppOnMac() const { return false; }
  bool isMacCatalystApp() const { return false; }
};

/// The folder of the program. Its resources, such as default.metallib, are there.
class Bundle : public Referencing<Bundle> {
 public:
  static Bundle* mainBundle();
  URL* bundleURL() const;
  URL* resourceURL() const { return bundleURL(); }
  String* bundlePath() const;
  String* resourcePath() const { return bundlePath(); }
  String* executablePath() const;
  URL* URLForResource(const String* name, const String* extension) const;
  String* pathForResource(const String* name, const String* extension) const;
};

}  // namespace NS
#pragma GCC visibility pop

#define MTLSTR(text) ::NS::MakeConstantString(text)
#define NSSTR(text) ::NS::MakeConstantString(text)
