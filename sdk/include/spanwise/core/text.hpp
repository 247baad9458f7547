// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include "spanwise/export.hpp"

namespace spanwise {

/// One part of a text: a reference to a value that can be printed with operator<<. Valid as long as
/// the value. The printing is compiled into the library, so that code which only throws errors does
/// not include stream headers, and does not use the locale of a C++ library that is linked
/// statically into an extension module.
class SW_API TextPart {
 public:
  template <class T>
  TextPart(const T& value) noexcept {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      set(std::string_view(value));
    } else if constexpr (std::same_as<T, char>) {
      set(std::string_view(&value, 1));
    } else if constexpr (std::signed_integral<T>) {
      kind_ = Kind::signed_integer;
      signed_ = value;
    } else if constexpr (std::unsigned_integral<T>) {
      kind_ = Kind::unsigned_integer;
      unsigned_ = value;
    } else if constexpr (std::floating_point<T>) {
      kind_ = Kind::real;
      real_ = static_cast<double>(value);
    } else {
      kind_ = Kind::printed;
      printed_ = {&value, [](std::ostream& out, const void* object) {
                    out << *static_cast<const T*>(object);
                  }};
    }
  }

  void append_to(std::string& out) const;

 private:
  enum class Kind : unsigned char { characters, signed_integer, unsigned_integer, real, printed };
  struct Characters {
    const char* first;
    std::size_t count;
  };
  struct Printed {
    const void* object;
    void (*print)(std::ostream&, const void*);
  };

  void set(std::string_view characters) noexcept {
    kind_ = Kind::characters;
    characters_ = {characters.data(), characters.size()};
  }

  Kind kind_;
  union {
    Characters characters_;
    long long signed_;
    unsigned long long unsigned_;
    double real_;
    Printed printed_;
  };
};

/// Concatenates the parts.
SW_API std::string join_text(std::initializer_list<TextPart> parts);

/// Concatenates `parts`, each printed as operator<< prints it.
template <class... Parts>
std::string text(const Parts&... parts) {
  return join_text({TextPart(parts)...});
}

}  // namespace spanwise
