#pragma once
// Opens shared libraries at run time: programs neither need them nor link them.

#include <initializer_list>
#include <string>

namespace rung {

/// A shared library that is never closed, because its worker threads may still run in it.
class SharedLibrary {
 public:
  /// Opens the first of the names that can be opened.
  explicit SharedLibrary(std::initializer_list<const char*> names);
  /// Opens the file that the environment variable names or, where it is not set, the first of the
  /// names that can be opened.
  SharedLibrary(const char* path_variable, std::initializer_list<const char*> names);

  /// Opens that file.
  static SharedLibrary at(const std::string& path);

  /// For a library that ends its threads when it is unloaded; call it before anything of the
  /// library is used.
  void close();

  explicit operator bool() const { return handle_ != nullptr; }
  /// Why it could not be opened, in a few words.
  const std::string& why_not() const { return why_not_; }

  /// The function of that name, or nullptr.
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
