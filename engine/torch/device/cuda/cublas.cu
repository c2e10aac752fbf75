/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cuBLAS, loaded when the first product is asked for: its headers need not be there to compile, nor
 * its library to run. */
#include "engine/torch/device/cuda/kernels.h"

#include <dlfcn.h>
#include <mutex>

#define DEVICES_MAX 64

/* What is used of its interface: names, numbers and types are cuBLAS's. */
typedef struct cublasContext *cublasHandle_t;
enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

template <typename T>
using gemm_function = int (*)(cublasHandle_t handle, int transa, int transb, int m, int n, int k,
                              const T *alpha, const T *a, int lda, long long stride_a, const T *b,
                              int ldb, long long stride_b, const T *beta, T *c, int ldc,
                              long long stride_c, int batch_count);

static struct {
  std::once_flag once;
  int (*create)(cublasHandle_t *handle);
  int (*set_stream)(cublasHandle_t handle, cudaStream_t stream);
  gemm_function<float> sgemm;
  gemm_function<double> dgemm;
  std::mutex mutex; /* guards handles and their use: a handle is for one thread at a time */
  cublasHandle_t handles[DEVICES_MAX];
} cublas;

static void
load() {
  void *library = nullptr;
  for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  cublas.create = (decltype(cublas.create))dlsym(library, "cublasCreate_v2");
  cublas.set_stream = (decltype(cublas.set_stream))dlsym(library, "cublasSetStream_v2");
  cublas.sgemm = (gemm_function<float>)dlsym(library, "cublasSgemmStridedBatched");
  cublas.dgemm = (gemm_function<double>)dlsym(library, "cublasDgemmStridedBatched");
}

static cublasHandle_t
handle_locked(int device) {
  if (device >= DEVICES_MAX) return nullptr;
  if (!cublas.handles[device] && cublas.create(&cublas.handles[device]) != 0) return nullptr;
  return cublas.handles[device];
}

/* How cuBLAS, whose matrices are column-major, reads a row-major operand of these sizes: as its
 * transpose, or not. */
struct layout {
  int op;
  int64_t leading;
};

static bool
read_layout(int64_t rows, int64_t columns, int64_t row, int64_t column, layout *out) {
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
    *out = {CUBLAS_OP_N, row > columns ? row : columns};
    return true;
  }
  if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
    *out = {CUBLAS_OP_T, column > rows ? column : rows};
    return true;
  }
  return false;
}

/* Row-major c = a b is column-major c' = b' a'. */
template <typename T>
static bool
multiply_locked(gemm_function<T> gemm, int device, cudaStream_t stream, const td_cuda_product &p,
                layout a, layout b, layout c) {
  cublasHandle_t handle = handle_locked(device);
  const T one = 1, zero = 0;
  if (!handle || cublas.set_stream(handle, stream) != 0) return false;
  return gemm(handle, b.op, a.op, (int)p.m, (int)p.n, (int)p.k, &one, (const T *)p.b.data,
              (int)b.leading, p.b.batch, (const T *)p.a.data, (int)a.leading, p.a.batch, &zero,
              (T *)p.c.data, (int)c.leading, p.c.batch, (int)p.n_batches) == 0;
}

bool
td_cublas_multiply(int device, cudaStream_t stream, const td_cuda_product &p) {
  const int64_t most = 1 << 30;
  layout a, b, c;
  std::call_once(cublas.once, load);
  if (!cublas.create || !cublas.set_stream || !cublas.sgemm || !cublas.dgemm) return false;
  if (p.n > most || p.m > most || p.k > most || p.n_batches > most) return false;
  if (!p.n || !p.m || !p.k || !p.n_batches) return false;
  if (!read_layout(p.n, p.k, p.a.row, p.a.column, &a)) return false;
  if (!read_layout(p.k, p.m, p.b.row, p.b.column, &b)) return false;
  if (!read_layout(p.n, p.m, p.c.row, p.c.column, &c) || c.op != CUBLAS_OP_N) return false;
  if (a.leading > most || b.leading > most || c.leading > most) return false;
  std::lock_guard<std::mutex> guard(cublas.mutex);
  if (p.dtype == TD_CUDA_FLOAT32)
    return multiply_locked<float>(cublas.sgemm, device, stream, p, a, b, c);
  return multiply_locked<double>(cublas.dgemm, device, stream, p, a, b, c);
}
