// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spanwise::cuda {

/// What a compiled binary offers, by the symbols that the driver knows it under.
struct BinarySymbols {
  std::vector<std::string> kernels;    ///< __global__ functions
  std::vector<std::string> variables;  ///< __device__, __constant__ and __managed__ ones
};

/// Reads a cubin's symbol table or PTX text. Other images (fat binaries) give nothing: their names
/// must be known. Never throws for what is in the image; a damaged one gives what could be read.
BinarySymbols read_symbols(std::string_view image);

/// The names that a person uses -> symbol. A symbol has its qualified name ("image::blur",
/// "scale<float>") and its plain one ("blur"); where functions are overloaded, and the name says
/// too little, each has its name with parameters ("blur(float*, int)") instead. Symbols without C++
/// names (extern "C") name themselves. Namespaces without a name are left out.
std::map<std::string, std::string> names_of(const std::vector<std::string>& symbols);

/// The qualified name of a symbol, without parameters, for messages; the symbol itself where it has
/// none.
std::string readable_name(const std::string& symbol);
/// "float*, float const*, int" for the mangled name of a function; "" for a name without types.
std::string types_of(const std::string& symbol);

}  // namespace spanwise::cuda
