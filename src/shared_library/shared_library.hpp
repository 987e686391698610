#pragma once
// Opens shared libraries at run time: programs neither need them nor link them.

#include <initializer_list>
#include <string>

namespace rung {

/// The destructor does not close the library: its worker threads may still run.
class SharedLibrary {
 public:
  /// Opens the first of the names that can be opened.
  explicit SharedLibrary(std::initializer_list<const char*> names);
  /// Opens the file that the environment variable names or, where it is not set, the first of the
  /// names that can be opened.
  SharedLibrary(const char* path_variable, std::initializer_list<const char*> names);

  /// Only for a library that ends its threads when it is unloaded, before it is used.
  void close();

  explicit operator bool() const { return handle_ != nullptr; }
  /// Why it was not opened, in a few words.
  const std::string& why_not() const { return why_not_; }

  /// The function of that name, or nullptr.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(address(symbol));
  }
  /// The file that holds the symbol, links resolved.
  std::string path(const char* symbol) const;

 private:
  void open_first(std::initializer_list<const char*> names);
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace rung
