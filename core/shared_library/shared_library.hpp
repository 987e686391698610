#pragma once
// Opens shared libraries at run time, so that programs neither link nor require them.

#include <initializer_list>
#include <string>

namespace rung {

/// A shared library. It stays open, because its worker threads may still run in it.
class SharedLibrary {
 public:
  /// Opens the first library in `names` that loads.
  explicit SharedLibrary(std::initializer_list<const char*> names);
  /// Opens the file named by the environment variable or, if that is not set, the first library in
  /// `names` that loads.
  SharedLibrary(const char* path_variable, std::initializer_list<const char*> names);

  /// Opens the file at `path`.
  static SharedLibrary at(const std::string& path);

  /// Closes a library that ends its threads when unloaded. Call it before using anything from the
  /// library.
  void close();

  explicit operator bool() const { return handle_ != nullptr; }
  /// The reason why no library could be opened, in a few words.
  const std::string& why_not() const { return why_not_; }

  /// The function with that name, or nullptr.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }
  /// The file that contains the symbol, with links resolved.
  std::string path(const char* symbol) const;

 private:
  SharedLibrary() = default;
  void open_first(std::initializer_list<const char*> names);
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace rung
