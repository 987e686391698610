// The Foundation part of the stand-in.

#include <Foundation/Foundation.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "standin.hpp"

namespace {

std::atomic<std::int64_t> objects = 0;
thread_local std::vector<NS::AutoreleasePool*> pools;  // innermost last

}  // namespace

namespace metal_standin {

std::int64_t live_objects() { return objects; }

Faults& faults() {
  static Faults faults;
  return faults;
}

void misuse(const std::string& what) {
  std::fprintf(stderr, "misuse of Metal: %s\n", what.c_str());
  std::abort();
}

}  // namespace metal_standin

namespace NS {

Object::Object() { ++objects; }

Object::~Object() { --objects; }

void Object::add_reference() { ++references_; }

void Object::drop_reference() {
  if (--references_ == 0) delete this;
}

void Object::lend() {
  if (pools.empty()) metal_standin::misuse("an object is lent, and no pool will drop it");
  pools.back()->lent_.push_back(this);
}

AutoreleasePool* AutoreleasePool::init() {
  pools.push_back(this);
  return this;
}

AutoreleasePool::~AutoreleasePool() {
  for (Object* object : lent_) object->drop_reference();
  if (pools.empty() || pools.back() != this) metal_standin::misuse("pools end out of order");
  pools.pop_back();
}

String* String::string(const char* text, StringEncoding /*encoding*/) {
  auto* const result = new String;
  result->text_ = text;
  return result->autorelease();
}

Error* Error::saying(std::string text) {
  auto* const result = new Error;
  result->text_ = std::move(text);
  return result->autorelease();
}

URL* URL::fileURLWithPath(const String* path) {
  auto* const result = new URL;
  result->path_ = path->utf8String();
  return result->autorelease();
}

}  // namespace NS
