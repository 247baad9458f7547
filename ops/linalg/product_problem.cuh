// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The problem and its elements, for product.cuh and gemv.cuh. The including text defines before:
// elements.cuh and half_elements.cuh of sdk/device, ELEMENT (the type in memory), SUM (the type of
// the accumulators), IS_BOOL, IS_INTEGER and CONJUGATE (0 or 1) and BATCH (the number of batch
// axes).

typedef long long I;

struct PackedMatrix {
  void* data;
  I row, column;  // strides in elements
};
struct PackedAxis {
  I extent, left, right, result, addend;
};
struct PackedProblem {
  PackedMatrix left, right, result, addend;  // no addend where its data is null
  I rows, columns, depth, batches;
  double alpha, beta;
  PackedAxis batch[BATCH > 0 ? BATCH : 1];
};

typedef ELEMENT E;
typedef SUM A;  // an accumulator

#define FN __device__ __forceinline__

template <class T>
FN void read(T& to, T from) {
  to = from;
}
// Narrow integers are accumulated in 32 bits, and truncated when they are stored.
FN void read(unsigned int& to, unsigned char from) { to = from; }
FN void read(unsigned int& to, unsigned short from) { to = from; }
FN void read(unsigned int& to, Bool from) { to = from.byte != 0; }
FN void read(float& to, Half from) { to = widened(from); }
FN void read(float& to, BFloat from) { to = widened(from); }

template <class T>
FN void write(T& to, T from) {
  to = from;
}
FN void write(unsigned char& to, unsigned int from) { to = (unsigned char)from; }
FN void write(unsigned short& to, unsigned int from) { to = (unsigned short)from; }
FN void write(Bool& to, unsigned int from) { to.byte = from != 0; }
FN void write(Half& to, float from) { to = narrow_half(from); }
FN void write(BFloat& to, float from) { to = narrow_bfloat(from); }

template <class T>
FN void add_product(T& sum, T a, T b) {
#if IS_BOOL
  sum |= a & b;
#else
  sum += a * b;
#endif
}
template <class T>
FN void add_product(Complex<T>& sum, Complex<T> a, Complex<T> b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
}
template <class T>
FN void add(T& sum, T a) {
#if IS_BOOL
  sum |= a;
#else
  sum += a;
#endif
}
template <class T>
FN void add(Complex<T>& sum, Complex<T> a) {
  sum.re += a.re;
  sum.im += a.im;
}
// The factor of an integer is a whole number.
template <class T>
FN T scaled(T a, double factor) {
#if IS_BOOL
  return factor != 0 ? a : T();
#elif IS_INTEGER
  return a * (T)(I)factor;
#else
  return a * (T)factor;
#endif
}
template <class T>
FN Complex<T> scaled(Complex<T> a, double factor) {
  a.re *= (T)factor;
  a.im *= (T)factor;
  return a;
}
template <class T>
FN T conjugated(T a) {
  return a;
}
template <class T>
FN Complex<T> conjugated(Complex<T> a) {
  a.im = -a.im;
  return a;
}

struct Pointers {
  const E *left, *right, *addend;
  E* result;
};

FN Pointers pointers_at(const PackedProblem& problem, I index) {
  I left = 0, right = 0, result = 0, addend = 0;
#pragma unroll
  for (int i = BATCH - 1; i >= 0; --i) {
    const PackedAxis& axis = problem.batch[i];
    const I batch_index = i == 0 ? index : index % axis.extent;
    index = i == 0 ? 0 : index / axis.extent;
    left += batch_index * axis.left;
    right += batch_index * axis.right;
    result += batch_index * axis.result;
    addend += batch_index * axis.addend;
  }
  Pointers pointers;
  pointers.left = (const E*)problem.left.data + left;
  pointers.right = (const E*)problem.right.data + right;
  pointers.result = (E*)problem.result.data + result;
  pointers.addend = (const E*)problem.addend.data;
  if (pointers.addend != 0) pointers.addend += addend;
  return pointers;
}

// alpha * sum + beta * addend
FN void store(const PackedProblem& problem, const Pointers& pointers, I row, I column, A sum) {
  E* to = pointers.result + row * problem.result.row + column * problem.result.column;
  if (problem.alpha != 1) sum = scaled(sum, problem.alpha);
  if (pointers.addend != 0) {
    A added = A();
    read(added, pointers.addend[row * problem.addend.row + column * problem.addend.column]);
    add(sum, problem.beta == 1 ? added : scaled(added, problem.beta));
  }
  write(*to, sum);
}
