#include "emu/metal_cpp/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "emu/reports/metal_kinds.hpp"
#include "emu/runtime/metal_reports.hpp"
#include "emu/runtime/report.hpp"

namespace rung::emu::metal_cpp {
namespace {

using Record = NS::ObjectAccess::Record;

/// Released objects keep their memory until many others have been released.
constexpr std::size_t most_released = 20000;

struct Objects {
  std::set<std::pair<std::uint64_t, Record*>> live;  // in the order of creation
  std::deque<std::pair<void*, Record*>> released;
  std::uint64_t next_serial = 1;
};
Objects& objects() {
  static Objects& objects = *new Objects;  // destructors of the program may still release
  return objects;
}

std::string at(const CallSite& site) {
  const std::string where = site.line().short_name();
  return where.empty() ? "" : " at " + where;
}

vgpu::Hazard hazard_at(const CallSite& site, std::string message) {
  vgpu::Hazard hazard{};
  const CallSite::Line line = site.line();
  hazard.first.file = line.file;
  hazard.first.line = line.line;
  hazard.first.source = line.short_name();
  hazard.message = std::move(message);
  return hazard;
}

std::string made(const Record& record) {
  return fmt::format("{}{}{}", record.class_name, record.made.line().file.empty() ? "" : " made",
                     at(record.made));
}

}  // namespace

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  return mutex;
}

void report_misuse(const std::string& message) {
  const CallSite site = CallSite::here();
  report_hazard(hazard_at(site, fmt::format("{}: {}{}", api_misuse, message, at(site))),
                api_misuse);
}

bool is_usable(const NS::Object* object) {
  if (object == nullptr) return false;
  const Record& record = NS::ObjectAccess::record(*object);
  if (!record.is_dead) return true;
  report_misuse(fmt::format("{} is used after its last reference was released{}", made(record),
                            at(record.released)));
  return false;
}

void report_leaked_objects() {
  const std::lock_guard lock(library_mutex());
  for (const auto& [serial, record] : objects().live) {
    const std::int64_t leaked = record->references - record->internal - record->pooled;
    const std::string_view name = record->class_name;
    // The system keeps the device, too, and pools may be those of running handlers.
    if (leaked <= 0 || name == "MTL::Device" || name == "NS::AutoreleasePool") continue;
    rung::vgpu::Hazard hazard = hazard_at(
        record->made,
        record->lacks_pool
            ? fmt::format("leak: {} was autoreleased without an NS::AutoreleasePool", made(*record))
            : fmt::format("leak: {} was never released ({} reference{})", made(*record), leaked,
                          leaked == 1 ? "" : "s"));
    hazard.kind = vgpu::HazardKind::leak;
    hazard.first.access = record->class_name;
    report_hazard(hazard);
  }
}

}  // namespace rung::emu::metal_cpp

namespace NS {

using namespace rung::emu;
using namespace rung::emu::metal_cpp;

Object::Object() : record_(new Record) {
  const std::lock_guard lock(library_mutex());
  record_->serial = objects().next_serial++;
  record_->made = CallSite::here();
  objects().live.emplace(record_->serial, record_);
}

Object::~Object() = default;

void* Object::operator new(std::size_t bytes) { return ::operator new(bytes); }

void Object::operator delete(void* memory) {
  // The object's record is what is left of it (remove_reference()).
  objects().released.emplace_back(memory, nullptr);
  if (objects().released.size() <= most_released) return;
  const auto [oldest, record] = objects().released.front();
  objects().released.pop_front();
  ::operator delete(oldest);
  delete record;
}

void Object::add_reference() {
  const std::lock_guard lock(library_mutex());
  if (is_usable(this)) ++record_->references;
}

void Object::remove_reference() {
  if (this == nullptr) return;  // a message to nil, which Objective-C allows
  const std::lock_guard lock(library_mutex());
  Record* const record = record_;
  if (record->is_dead) {
    const CallSite site = CallSite::here();
    rung::vgpu::Hazard hazard = hazard_at(
        site, fmt::format("{}: {} is released{} although its last reference was released{}",
                          over_release, made(*record), at(site), at(record->released)));
    hazard.first.access = record->class_name;
    report_hazard(hazard, over_release);
    return;
  }
  if (--record->references > 0) return;
  record->is_dead = true;
  record->released = CallSite::here();
  objects().live.erase({record->serial, record});
  delete this;
  objects().released.back().second = record;
}

UInteger Object::retainCount() const {
  const std::lock_guard lock(library_mutex());
  return is_usable(this) ? static_cast<UInteger>(record_->references) : 0;
}

UInteger Object::hash() const { return reinterpret_cast<UInteger>(this); }
bool Object::isEqual(const Object* other) const { return this == other; }
String* Object::description() const {
  const std::lock_guard lock(library_mutex());
  if (!is_usable(this)) return nullptr;
  return autoreleased(
      new_string(fmt::format("<{}: {}>", record_->class_name, static_cast<const void*>(this))));
}

}  // namespace NS
