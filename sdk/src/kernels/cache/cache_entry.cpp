// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/cache_entry.hpp"

#include <cstddef>

#include "core/string_utils.hpp"
#include "kernels/cache/sha256.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::string_view heading = "spanwise kernel 1\n";
constexpr std::size_t digest_size = 64;  // sha256(), in characters

// A field is its length, a space, its bytes and a newline: names may contain any character.
void write_field(std::string& out, std::string_view field) {
  out += std::to_string(field.size());
  out += ' ';
  out += field;
  out += '\n';
}

class FieldReader {
 public:
  explicit FieldReader(std::string_view text) noexcept : rest_(text) {}

  bool at_end() const noexcept { return rest_.empty(); }

  std::optional<std::string> next() {
    const auto size = take_number<std::size_t>(rest_);
    if (!size || rest_.size() < 2 || *size > rest_.size() - 2 || rest_[0] != ' ' ||
        rest_[*size + 1] != '\n')
      return std::nullopt;
    std::string field(rest_.substr(1, *size));
    rest_.remove_prefix(*size + 2);
    return field;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string CacheEntry::write() const {
  std::string out(heading);
  write_field(out, image_name);
  write_field(out, image_digest);
  for (const auto& [name, symbol] : symbols) {
    write_field(out, name);
    write_field(out, symbol);
  }
  return out + sha256(out);
}

std::optional<CacheEntry> CacheEntry::read(std::string_view text) {
  if (!text.starts_with(heading) || text.size() < heading.size() + digest_size) return std::nullopt;
  const std::string_view body = text.substr(0, text.size() - digest_size);
  if (sha256(body) != text.substr(body.size())) return std::nullopt;
  FieldReader fields(body.substr(heading.size()));
  CacheEntry entry;
  auto image_name = fields.next(), image_digest = fields.next();
  if (!image_name || !image_digest) return std::nullopt;
  entry.image_name = std::move(*image_name);
  entry.image_digest = std::move(*image_digest);
  while (!fields.at_end()) {
    auto name = fields.next(), symbol = fields.next();
    if (!name || !symbol) return std::nullopt;
    entry.symbols.emplace(std::move(*name), std::move(*symbol));
  }
  return entry;
}

}  // namespace spanwise::kernels
