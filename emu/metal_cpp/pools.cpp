// Autorelease pools: each thread has a stack of them.

#include <algorithm>
#include <vector>

#include "emu/metal_cpp/objects.hpp"

namespace NS {
namespace {

using namespace rung::emu::metal_cpp;

class PoolObject final : public AutoreleasePool {
 public:
  ~PoolObject() override;
  void add(Object* object) {
    ++ObjectAccess::record(*object).pooled;
    objects_.push_back(object);
  }
  void drain_objects() {
    while (!objects_.empty()) {  // a destructor may autorelease more
      Object* const object = objects_.back();
      objects_.pop_back();
      --ObjectAccess::record(*object).pooled;
      ObjectAccess::remove(*object);
    }
  }

 private:
  std::vector<Object*> objects_;
};

std::vector<PoolObject*>& stack() {
  static thread_local std::vector<PoolObject*>& pools = *new std::vector<PoolObject*>;
  return pools;
}

// A pool that is drained takes those that were made after it along.
PoolObject::~PoolObject() {
  auto& pools = stack();
  const auto own = std::find(pools.begin(), pools.end(), this);
  if (own == pools.end()) {  // of another thread, or drained already
    drain_objects();
    return;
  }
  const std::vector<PoolObject*> inner(own + 1, pools.end());
  for (auto each = inner.rbegin(); each != inner.rend(); ++each) (*each)->drain_objects();
  drain_objects();
  pools.erase(std::find(pools.begin(), pools.end(), this), pools.end());
}

}  // namespace

void Object::release_later() {
  const std::lock_guard lock(library_mutex());
  if (!is_usable(this)) return;
  if (stack().empty()) {
    record_->lacks_pool = true;
  } else {
    stack().back()->add(this);
  }
}

AutoreleasePool* AutoreleasePool::alloc() { return named(new PoolObject, "NS::AutoreleasePool"); }
AutoreleasePool* AutoreleasePool::init() {
  if (is_usable(this)) stack().push_back(static_cast<PoolObject*>(this));
  return this;
}
void AutoreleasePool::addObject(Object* object) {
  ask<PoolObject>(this, [&](PoolObject& pool) { pool.add(object); });
}

}  // namespace NS
