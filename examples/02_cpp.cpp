// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Filters a picture from C++: a strided op and a CUDA C filter of 2012 in one compiled function, on
// a GPU if there is one, else on the CPU.
//
//   02_cpp [picture.ppm [filtered.pgm]]      binary PPM (P6) in, binary PGM (P5) out
//
// Without a picture it draws one: a bright disc on a dark ground.

#include <spanwise/spanwise.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace sw = spanwise;

namespace {

struct Picture {
  int width = 0, height = 0;
  std::vector<unsigned char> rgb;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Picture load_ppm(const std::string& path) {
  const std::string bytes = read_file(path);
  std::istringstream header(bytes);
  std::string magic;
  Picture picture;
  int maximum = 0;
  if (!(header >> magic >> picture.width >> picture.height >> maximum) || magic != "P6" ||
      maximum != 255)
    throw std::runtime_error(path + " is no binary 8-bit PPM (P6)");
  const auto start = static_cast<std::size_t>(header.tellg()) + 1;
  const auto size =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3;
  if (picture.width < 1 || picture.height < 1 || bytes.size() < start + size)
    throw std::runtime_error(path + " ends before its last pixel");
  picture.rgb.assign(bytes.begin() + static_cast<std::ptrdiff_t>(start),
                     bytes.begin() + static_cast<std::ptrdiff_t>(start + size));
  return picture;
}

Picture draw_disc(int width, int height) {
  Picture picture{width, height, {}};
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool inside = std::hypot(x - width / 2, y - height / 2) < height / 3;
      picture.rgb.insert(picture.rgb.end(), {static_cast<unsigned char>(inside ? 240 : 16),
                                             static_cast<unsigned char>(inside ? 200 : 24), 40});
    }
  return picture;
}

// An array over memory that the picture owns: without a release function Spanwise does not free it.
sw::Array share(Picture& picture) {
  auto storage =
      sw::Storage::adopt(picture.rgb.data(), picture.rgb.size(), sw::cpu, nullptr, nullptr,
                         /*readonly=*/true);
  return sw::Array(storage, sw::Layout::row_major({picture.height, picture.width, 3}), sw::uint8);
}

// [example.begin]
sw::CompiledFunction compile_sketch(const std::string& folder) {
  const auto luma = sw::kernel_op({.name = "luma",
                                   .source = read_file(folder + "/luma.cu"),
                                   .inputs = {"pixels: strided uint8[h, w, 3]"},
                                   .outputs = {"grey: contiguous float32[h, w]"},
                                   .arguments = {"pixels", "grey"},
                                   .block = {"32", "8"},
                                   .grid = {"cdiv(w, 32)", "cdiv(h, 8)"}});
  const auto sobel = sw::kernel_op({.name = "sobel",
                                    .source = read_file(folder + "/legacy/sobel.cu"),
                                    .inputs = {"grey: contiguous float32[h, w]"},
                                    .outputs = {"edges: contiguous float32[h, w]"},
                                    .arguments = {"grey", "edges", "w", "h"},
                                    .block = {"16", "16"},
                                    .grid = {"cdiv(w, 16)", "cdiv(h, 16)"}});
  const sw::Variable pixels(
      sw::TensorType(sw::uint8, {sw::TensorType::any, sw::TensorType::any, 3}), "pixels");
  const sw::Variable grey = (*luma)(std::vector{pixels}).front();
  return sw::function({pixels}, (*sobel)(std::vector{grey}), {.name = "sketch"});
}
// [example.end]

void save_pgm(const std::string& path, const sw::Array& edges) {
  const sw::Array bytes = sw::contiguous(sw::to_device(sw::astype(edges, sw::uint8), sw::cpu));
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << edges.shape()[1] << ' ' << edges.shape()[0] << "\n255\n";
  file.write(static_cast<const char*>(bytes.data()), bytes.nbytes());
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    Picture picture = count > 1 ? load_ppm(arguments[1]) : draw_disc(320, 240);
    const std::string out = count > 2 ? arguments[2] : "sketch.pgm";
    const auto sketch = compile_sketch(EXAMPLES_FOLDER);
    // A view, mirrored and without the first and last row: no copy.
    const sw::Array pixels =
        share(picture).slice(1, {.step = -1}).slice(0, {.start = 1, .stop = -1});
    std::cout << "pixels:  " << pixels << '\n';
    const sw::Array edges = sketch({pixels})[0];
    std::cout << "sketch:  " << edges << ", by " << sketch.toposort().size() << " ops on "
              << sketch.device() << '\n';
    save_pgm(out, edges);
    std::cout << "written: " << out << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "02_cpp: " << error.what() << '\n';
    return 1;
  }
}
