#pragma once
// dlopen for peers.

#include <initializer_list>
#include <string>

namespace rung {

/// Opens the file named by the environment variable or, if it is not set, the first of the names
/// that can be opened. It is never closed, because worker threads of the library may still run in
/// it.
class SharedLibrary {
 public:
  SharedLibrary(const char* path_variable, std::initializer_list<const char*> names);

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
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace rung
