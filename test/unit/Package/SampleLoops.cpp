//===- SampleLoops.cpp - Compiled loops for packages made by hand ---------===//
//
// What the compiler's object code looks like from outside. One dimension; the
// signature is that of ccn::runtime::LoopFunction.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <ctime>

extern "C" {

/// y[i] = y[i] + scale[i] * x[i], of f32: inputs y, scale, x.
void add_scaled(const int64_t *sizes, void *const *data, const int64_t *strides,
                int64_t *status) {
  for (int64_t i = 0; i < sizes[0]; ++i)
    static_cast<float *>(data[3])[i * strides[3]] =
        static_cast<const float *>(data[0])[i * strides[0]] +
        static_cast<const float *>(data[1])[i * strides[1]] *
            static_cast<const float *>(data[2])[i * strides[2]];
}

/// As add_scaled, and 1 too much.
void add_scaled_wrongly(const int64_t *sizes, void *const *data,
                        const int64_t *strides, int64_t *status) {
  add_scaled(sizes, data, strides, status);
  for (int64_t i = 0; i < sizes[0]; ++i)
    static_cast<float *>(data[3])[i * strides[3]] += 1;
}

/// Sleeps as many seconds as the one element of its input says, f32.
void sleep_for(const int64_t *sizes, void *const *data, const int64_t *strides,
               int64_t *status) {
  double seconds = *static_cast<const float *>(data[0]);
  *static_cast<float *>(data[1]) = *static_cast<const float *>(data[0]);
  timespec rest{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  nanosleep(&rest, nullptr);
}

/// Fails with the package's first failure.
void divide_by_zero(const int64_t *sizes, void *const *data,
                    const int64_t *strides, int64_t *status) {
  *status = 1;
}

int not_a_function = 7;
}
