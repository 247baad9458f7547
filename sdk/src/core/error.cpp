// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/error.hpp"

#include <array>
#include <charconv>
#include <sstream>

namespace spanwise {

void TextPart::append_to(std::string& out) const {
  std::array<char, 32> digits{};  // enough for any integer, and for a real of 6 digits
  const auto put = [&](auto... value) {
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value...);
    out.append(digits.data(), written.ptr);
  };
  switch (kind_) {
    case Kind::characters:
      out.append(characters_.first, characters_.count);
      break;
    case Kind::signed_integer:
      put(signed_);
      break;
    case Kind::unsigned_integer:
      put(unsigned_);
      break;
    case Kind::real:
      put(real_, std::chars_format::general, 6);  // the default format of std::ostream
      break;
    case Kind::printed: {
      std::ostringstream stream;
      printed_.print(stream, printed_.object);
      out += std::move(stream).str();
      break;
    }
  }
}

std::string join_text(std::initializer_list<TextPart> parts) {
  std::string out;
  for (const TextPart& part : parts) part.append_to(out);
  return out;
}

}  // namespace spanwise
