// Values of Foundation: strings, numbers, arrays, dictionaries, errors, data, paths.

#include <fmt/format.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "QuartzCore/QuartzCore.hpp"
#include "emu/metal_cpp/objects.hpp"

namespace fs = std::filesystem;

namespace NS {
namespace {

using namespace rung::emu::metal_cpp;

struct StringObject final : String {
  explicit StringObject(std::string own) : text(std::move(own)) {}
  std::string text;  // UTF-8
};
struct NumberObject final : Number {
  double real = 0;
  long long integer = 0;
  bool is_real = false;
};
struct ValueObject final : Value {
  void* pointer = nullptr;
};
struct ArrayObject final : Array {
  std::vector<Ref<Object>> objects;
};
struct DictionaryObject final : Dictionary {
  std::vector<std::pair<Ref<Object>, Ref<Object>>> entries;
};
struct EnumeratorObject final : ObjectEnumerator {
  std::vector<Ref<Object>> objects;
  std::size_t at = 0;
};
struct DataObject final : Data {
  std::vector<char> bytes;
};
struct UrlObject final : URL {
  std::string path;
};
struct ErrorObject final : Error {
  std::string domain, description;
  Integer code = 0;
  Ref<Dictionary> information;
};
struct DateObject final : Date {
  double seconds = 0;  // of the steady clock
};
struct ProcessObject final : ProcessInfo {};
struct BundleObject final : Bundle {};

/// A new object of a class of Foundation.
template <class Class>
Class* made(const char* class_name) {
  return named(new Class, class_name);
}

ArrayObject* new_array_object(const Object* const* objects, UInteger count) {
  auto* const array = made<ArrayObject>("NS::Array");
  for (UInteger i = 0; i < count; ++i) {
    array->objects.emplace_back(const_cast<Object*>(objects[i]));
  }
  return array;
}

DictionaryObject* new_dictionary(const Object* const* objects, const Object* const* keys,
                                 UInteger count) {
  auto* const dictionary = made<DictionaryObject>("NS::Dictionary");
  for (UInteger i = 0; i < count; ++i) {
    dictionary->entries.emplace_back(const_cast<Object*>(keys[i]), const_cast<Object*>(objects[i]));
  }
  return dictionary;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

fs::path executable() { return fs::read_symlink("/proc/self/exe"); }

URL* url_of(const fs::path& path) {
  auto* const url = made<UrlObject>("NS::URL");
  url->path = path.string();
  return autoreleased(url);
}

StringObject& own(String* text) { return static_cast<StringObject&>(*text); }

/// The text of a C string; Latin-1 becomes UTF-8.
std::string decoded(const char* text, UInteger encoding) {
  if (text == nullptr) return {};
  if (encoding != ISOLatin1StringEncoding) return text;
  std::string utf8;
  for (; *text != '\0'; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c < 0x80) {
      utf8 += *text;
    } else {
      utf8 += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    }
  }
  return utf8;
}

/// The code units of UTF-16.
std::vector<unichar> units(const std::string& utf8) {
  std::vector<unichar> all;
  for (std::size_t at = 0; at < utf8.size();) {
    const auto first = static_cast<unsigned char>(utf8[at++]);
    int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (; more > 0 && at < utf8.size(); --more) {
      code = code << 6 | (static_cast<unsigned char>(utf8[at++]) & 0x3Fu);
    }
    if (code < 0x10000) {
      all.push_back(static_cast<unichar>(code));
    } else {
      all.push_back(static_cast<unichar>(0xD800 + ((code - 0x10000) >> 10)));
      all.push_back(static_cast<unichar>(0xDC00 + ((code - 0x10000) & 0x3FF)));
    }
  }
  return all;
}

}  // namespace

String* String::string() { return autoreleased(alloc()); }
String* String::string(const String* text) { return autoreleased(new_string(text_of(text))); }
String* String::string(const char* text, UInteger encoding) {
  return autoreleased(new_string(decoded(text, encoding)));
}
String* String::alloc() { return new_string({}); }
String* String::init() { return this; }
String* String::init(const String* text) {
  own(this).text = text_of(text);
  return this;
}
String* String::init(const char* text, UInteger encoding) {
  own(this).text = decoded(text, encoding);
  return this;
}
String* String::init(void* bytes, UInteger length, UInteger encoding, bool frees_bytes) {
  own(this).text = decoded(std::string(static_cast<char*>(bytes), length).c_str(), encoding);
  if (frees_bytes) std::free(bytes);
  return this;
}
unichar String::character(UInteger index) const {
  const std::vector<unichar> all = units(text_of(this));
  return index < all.size() ? all[index] : unichar{0};
}
UInteger String::length() const { return units(text_of(this)).size(); }
UInteger String::lengthOfBytes(UInteger encoding) const {
  return encoding == UTF16StringEncoding ? 2 * length() : text_of(this).size();
}
const char* String::utf8String() const { return this == nullptr ? nullptr : text_of(this).c_str(); }
const char* String::cString(UInteger) const { return utf8String(); }
bool String::isEqualToString(const String* other) const { return text_of(this) == text_of(other); }
Range String::rangeOfString(const String* text, StringCompareOptions options) const {
  const std::string &own = text_of(this), &sought = text_of(text);
  const std::size_t at = (options & BackwardsSearch) != 0 ? own.rfind(sought) : own.find(sought);
  if (at == own.npos) return {static_cast<UInteger>(NotFound), 0};
  return {units(own.substr(0, at)).size(), units(sought).size()};
}
String* String::stringByAppendingString(const String* other) const {
  return autoreleased(new_string(text_of(this) + text_of(other)));
}
ComparisonResult String::caseInsensitiveCompare(const String* other) const {
  const int order = strcasecmp(text_of(this).c_str(), text_of(other).c_str());
  return order < 0 ? OrderedAscending : order > 0 ? OrderedDescending : OrderedSame;
}
UInteger String::hash() const { return std::hash<std::string>()(text_of(this)); }
bool String::isEqual(const Object* other) const {
  const auto* const text = dynamic_cast<const String*>(other);
  return text != nullptr && isEqualToString(text);
}
String* String::description() const { return const_cast<String*>(this); }

const String* detail::constant_string(const char* text) {
  static std::map<std::string, Ref<String>>& constants = *new std::map<std::string, Ref<String>>;
  const std::lock_guard lock(library_mutex());
  Ref<String>& constant = constants[text];
  if (!constant) {
    String* const made = new_string(text);
    constant = made;
    made->release();
  }
  return constant.get();
}

Value* Value::value(const void* pointer) {
  auto* const value = made<ValueObject>("NS::Value");
  value->pointer = const_cast<void*>(pointer);
  return autoreleased(value);
}
void* Value::pointerValue() const {
  return ask<ValueObject>(this, [](const ValueObject& value) { return value.pointer; });
}

Number* Number::of_double(double value) {
  auto* const number = made<NumberObject>("NS::Number");
  number->real = value;
  number->integer = static_cast<long long>(value);
  number->is_real = true;
  return autoreleased(number);
}
Number* Number::of_integer(long long value) {
  auto* const number = made<NumberObject>("NS::Number");
  number->real = static_cast<double>(value);
  number->integer = value;
  return autoreleased(number);
}
long long Number::longLongValue() const {
  return ask<NumberObject>(this, [](const NumberObject& number) { return number.integer; });
}
double Number::doubleValue() const {
  return ask<NumberObject>(this, [](const NumberObject& number) { return number.real; });
}
bool Number::isEqual(const Object* other) const {
  const auto* const number = dynamic_cast<const Number*>(other);
  return number != nullptr && number->doubleValue() == doubleValue();
}
UInteger Number::hash() const { return std::hash<double>()(doubleValue()); }
String* Number::description() const {
  return ask<NumberObject>(this, [](const NumberObject& number) -> String* {
    return autoreleased(new_string(number.is_real ? fmt::format("{}", number.real)
                                                  : fmt::format("{}", number.integer)));
  });
}

Array* Array::array() { return autoreleased(alloc()); }
Array* Array::array(const Object* object) { return autoreleased(new_array(&object, 1)); }
Array* Array::array(const Object* const* objects, UInteger count) {
  return autoreleased(new_array(objects, count));
}
Array* Array::alloc() { return new_array(nullptr, 0); }
Array* Array::init() { return this; }
Array* Array::init(const Object* const* objects, UInteger count) {
  auto& own = static_cast<ArrayObject&>(*this);
  for (UInteger i = 0; i < count; ++i) own.objects.emplace_back(const_cast<Object*>(objects[i]));
  return this;
}
UInteger Array::count() const {
  return ask<ArrayObject>(this, [](const ArrayObject& array) { return array.objects.size(); });
}
Object* Array::at(UInteger index) const {
  return ask<ArrayObject>(this, [&](const ArrayObject& array) -> Object* {
    if (index < array.objects.size()) return array.objects[index].get();
    report_misuse(
        fmt::format("index {} of an NS::Array of {} objects", index, array.objects.size()));
    return nullptr;
  });
}
String* Array::description() const {
  return ask<ArrayObject>(this, [](const ArrayObject& array) -> String* {
    std::string text;
    for (const auto& each : array.objects) {
      text += (text.empty() ? "\n    " : ",\n    ") + text_of(each->description());
    }
    return autoreleased(new_string("(" + text + "\n)"));
  });
}

Dictionary* Dictionary::dictionary() { return autoreleased(alloc()); }
Dictionary* Dictionary::dictionary(const Object* object, const Object* key) {
  return autoreleased(new_dictionary(&object, &key, 1));
}
Dictionary* Dictionary::dictionary(const Object* const* objects, const Object* const* keys,
                                   UInteger count) {
  return autoreleased(new_dictionary(objects, keys, count));
}
Dictionary* Dictionary::alloc() { return new_dictionary(nullptr, nullptr, 0); }
Dictionary* Dictionary::init() { return this; }
Dictionary* Dictionary::init(const Object* const* objects, const Object* const* keys,
                             UInteger count) {
  auto& own = static_cast<DictionaryObject&>(*this);
  for (UInteger i = 0; i < count; ++i) {
    own.entries.emplace_back(const_cast<Object*>(keys[i]), const_cast<Object*>(objects[i]));
  }
  return this;
}
UInteger Dictionary::count() const {
  return ask<DictionaryObject>(this,
                               [](const DictionaryObject& own) { return own.entries.size(); });
}
ObjectEnumerator* Dictionary::keys() const {
  return ask<DictionaryObject>(this, [](const DictionaryObject& own) -> ObjectEnumerator* {
    auto* const keys = made<EnumeratorObject>("NS::Enumerator");
    for (const auto& [key, object] : own.entries) keys->objects.push_back(key);
    return autoreleased(keys);
  });
}
Object* ObjectEnumerator::next() {
  return ask<EnumeratorObject>(this, [](EnumeratorObject& own) -> Object* {
    return own.at < own.objects.size() ? own.objects[own.at++].get() : nullptr;
  });
}
Object* Dictionary::find(const Object* key) const {
  return ask<DictionaryObject>(this, [&](const DictionaryObject& own) -> Object* {
    for (const auto& [each, object] : own.entries) {
      if (key != nullptr && each->isEqual(key)) return object.get();
    }
    return nullptr;
  });
}

Data* Data::data(const void* bytes, UInteger length) {
  auto* const data = made<DataObject>("NS::Data");
  const auto* const from = static_cast<const char*>(bytes);
  data->bytes.assign(from, from + length);
  return autoreleased(data);
}
void* Data::mutableBytes() const {
  return ask<DataObject>(
      this, [](const DataObject& data) -> void* { return const_cast<char*>(data.bytes.data()); });
}
UInteger Data::length() const {
  return ask<DataObject>(this, [](const DataObject& data) { return data.bytes.size(); });
}

URL* URL::fileURLWithPath(const String* path) { return url_of(text_of(path)); }
URL* URL::alloc() { return made<UrlObject>("NS::URL"); }
URL* URL::init() { return this; }
URL* URL::init(const String* text) {
  const std::string scheme = "file://";
  std::string path = text_of(text);
  if (path.starts_with(scheme)) path.erase(0, scheme.size());
  static_cast<UrlObject&>(*this).path = path;
  return this;
}
URL* URL::initFileURLWithPath(const String* path) { return init(path); }
const char* URL::fileSystemRepresentation() const {
  return ask<UrlObject>(this, [](const UrlObject& url) { return url.path.c_str(); });
}
String* URL::path() const {
  return ask<UrlObject>(
      this, [](const UrlObject& url) -> String* { return autoreleased(new_string(url.path)); });
}

Error* Error::error(String* domain, Integer code, Dictionary* information) {
  return autoreleased(alloc()->init(domain, code, information));
}
Error* Error::alloc() { return made<ErrorObject>("NS::Error"); }
Error* Error::init() { return this; }
Error* Error::init(String* domain, Integer code, Dictionary* information) {
  auto& own = static_cast<ErrorObject&>(*this);
  own.domain = text_of(domain);
  own.code = code;
  own.information = information;
  own.description =
      fmt::format("The operation couldn\u2019t be completed. ({} error {}.)", own.domain, code);
  if (const String* text =
          information == nullptr ? nullptr : information->object<String>(LocalizedDescriptionKey)) {
    own.description = text_of(text);
  }
  return this;
}
Integer Error::code() const {
  return ask<ErrorObject>(this, [](const ErrorObject& error) { return error.code; });
}
String* Error::domain() const {
  return ask<ErrorObject>(this, [](const ErrorObject& error) -> String* {
    return autoreleased(new_string(error.domain));
  });
}
Dictionary* Error::userInfo() const {
  return ask<ErrorObject>(this, [](const ErrorObject& error) { return error.information.get(); });
}
String* Error::localizedDescription() const {
  return ask<ErrorObject>(this, [](const ErrorObject& error) -> String* {
    return autoreleased(new_string(error.description));
  });
}
String* Error::description() const {
  return ask<ErrorObject>(this, [](const ErrorObject& error) -> String* {
    return autoreleased(new_string(
        fmt::format("Error Domain={} Code={} \"{}\" UserInfo={{NSLocalizedDescription={}}}",
                    error.domain, error.code, error.description, error.description)));
  });
}
String* const CocoaErrorDomain = const_cast<String*>(detail::constant_string("NSCocoaErrorDomain"));
String* const LocalizedDescriptionKey =
    const_cast<String*>(detail::constant_string("NSLocalizedDescription"));

Date* Date::date() { return dateWithTimeIntervalSinceNow(0); }
Date* Date::dateWithTimeIntervalSinceNow(TimeInterval seconds) {
  auto* const date = made<DateObject>("NS::Date");
  date->seconds = now() + seconds;
  return autoreleased(date);
}
TimeInterval Date::timeIntervalSinceNow() const {
  return ask<DateObject>(this, [](const DateObject& date) { return date.seconds - now(); });
}

ProcessInfo* ProcessInfo::processInfo() {
  return autoreleased(made<ProcessObject>("NS::ProcessInfo"));
}
UInteger ProcessInfo::processorCount() const { return std::thread::hardware_concurrency(); }
unsigned long long ProcessInfo::physicalMemory() const {
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}
int ProcessInfo::processIdentifier() const { return getpid(); }
String* ProcessInfo::hostName() const {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return String::string(name, UTF8StringEncoding);
}
String* ProcessInfo::operatingSystemVersionString() const {
  utsname system = {};
  uname(&system);
  return String::string((std::string(system.sysname) + ' ' + system.release).c_str(),
                        UTF8StringEncoding);
}
TimeInterval ProcessInfo::systemUptime() const { return now(); }
String* ProcessInfo::processName() const {
  return autoreleased(new_string(executable().filename().string()));
}

Bundle* Bundle::mainBundle() { return autoreleased(made<BundleObject>("NS::Bundle")); }
URL* Bundle::bundleURL() const { return url_of(executable().parent_path()); }
String* Bundle::bundlePath() const {
  return autoreleased(new_string(executable().parent_path().string()));
}
String* Bundle::executablePath() const { return autoreleased(new_string(executable().string())); }
URL* Bundle::URLForResource(const String* name, const String* extension) const {
  const String* const path = pathForResource(name, extension);
  return path == nullptr ? nullptr : url_of(text_of(path));
}
String* Bundle::pathForResource(const String* name, const String* extension) const {
  fs::path path = executable().parent_path() / text_of(name);
  if (!text_of(extension).empty()) path += "." + text_of(extension);
  return fs::exists(path) ? autoreleased(new_string(path.string())) : nullptr;
}

}  // namespace NS

namespace rung::emu::metal_cpp {

NS::String* new_string(std::string text) {
  return named<NS::String>(new NS::StringObject(std::move(text)), "NS::String");
}

const std::string& text_of(const NS::String* text) {
  static const std::string none;
  if (!is_usable(text)) return none;
  return static_cast<const NS::StringObject&>(*text).text;
}

NS::Array* new_array(const NS::Object* const* objects, std::size_t count) {
  return NS::new_array_object(objects, count);
}

void for_each_entry(const NS::Dictionary& dictionary,
                    const std::function<void(const NS::Object&, const NS::Object&)>& function) {
  for (const auto& [key, object] : static_cast<const NS::DictionaryObject&>(dictionary).entries) {
    function(*key, *object);
  }
}

NS::Error* new_error(const char* domain, NS::Integer code, std::string description) {
  auto* const error = NS::made<NS::ErrorObject>("NS::Error");
  error->domain = domain;
  error->code = code;
  error->description = std::move(description);
  return error;
}

std::nullptr_t fail(NS::Error** error, const char* domain, NS::Integer code,
                    std::string description) {
  if (error != nullptr) *error = autoreleased(new_error(domain, code, std::move(description)));
  return nullptr;
}

}  // namespace rung::emu::metal_cpp

double CACurrentMediaTime() { return NS::now(); }
