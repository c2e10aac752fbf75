/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/linalg/correlation.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/linalg/gemm.h"

/* Images are unfolded side by side until a product has this many columns: narrow ones are slow. */
#define ENOUGH_COLUMNS 256

/* What the products of one group of some images work on. */
typedef struct block {
  const td_correlation *shape;
  td_dtype dtype;
  int64_t first, n; /* images */
  int64_t group;
  td_tensor *columns; /* (borrowed) [patch, n area], NULL: the image is its own columns */
  td_tensor *rows;    /* (borrowed) [out_channels, n area], NULL: the output is used in place */
} block;

static int64_t
area_of(const int64_t size[2]) {
  return size[0] * size[1];
}

static int64_t
patch_of(const td_correlation *self) {
  return self->channels * area_of(self->kernel);
}

static bool
is_pointwise(const td_correlation *self) {
  return area_of(self->kernel) == 1 && area_of(self->stride) == 1 && !self->padding[0] &&
         !self->padding[1];
}

/* The outputs [first, end) along one dimension whose element `at` of the kernel lies inside. */
static void
inside(const td_correlation *self, int dim, int64_t at, int64_t *first, int64_t *end) {
  int64_t stride = self->stride[dim], start = at * self->dilation[dim] - self->padding[dim];
  int64_t last = self->size[dim] - 1 - start;
  *first = TD_MIN(start < 0 ? (-start + stride - 1) / stride : 0, self->out_size[dim]);
  *end = last < 0 ? 0 : TD_MIN(last / stride + 1, self->out_size[dim]);
  *end = TD_MAX(*end, *first);
}

/* What one element of the kernel meets in a channel: outputs [top, bottom) x [left, right), whose
 * inputs lie inside; `first` is that of output (top, left). */
typedef struct span {
  int64_t top, bottom, left, right, first;
} span;

static span
span_of(const td_correlation *self, int64_t ky, int64_t kx) {
  span s;
  inside(self, 0, ky, &s.top, &s.bottom);
  inside(self, 1, kx, &s.left, &s.right);
  int64_t y = s.top * self->stride[0] - self->padding[0] + ky * self->dilation[0];
  int64_t x = s.left * self->stride[1] - self->padding[1] + kx * self->dilation[1];
  s.first = y * self->size[1] + x;
  return s;
}

/* Outputs and inputs lie alike, row upon row: from the first to the last it is one run. */
static bool
is_shift(const td_correlation *self) {
  return self->stride[0] == 1 && self->stride[1] == 1 && self->out_size[1] == self->size[1];
}

/* One row of columns, between a plane of an image and what one element of the kernel meets in it.
 */
#define DEFINE_UNFOLD(T)                                                                           \
  static void clear_sides_##T(const td_correlation *s, span at, T *column) {                       \
    int64_t width = s->out_size[1];                                                                \
    for (int64_t y = at.top; y < at.bottom; y++) {                                                 \
      for (int64_t x = 0; x < at.left; x++)                                                        \
        column[y * width + x] = 0;                                                                 \
      for (int64_t x = at.right; x < width; x++)                                                   \
        column[y * width + x] = 0;                                                                 \
    }                                                                                              \
  }                                                                                                \
  static void unfold_row_##T(const td_correlation *s, span at, const T *plane, T *column) {        \
    int64_t width = s->out_size[1], n = at.right - at.left, step = s->stride[1];                   \
    int64_t rows = at.bottom - at.top, pitch = s->stride[0] * s->size[1];                          \
    const T *from = plane + at.first;                                                              \
    T *to = column + at.top * width + at.left;                                                     \
    memset(column, 0, (size_t)(at.top * width) * sizeof(T));                                       \
    if (is_shift(s) && rows > 0 && n > 0)                                                          \
      memcpy(to, from, (size_t)((rows - 1) * width + n) * sizeof(T));                              \
    else                                                                                           \
      for (int64_t y = 0; y < rows; y++)                                                           \
        for (int64_t x = 0; x < n; x++)                                                            \
          to[y * width + x] = from[y * pitch + x * step];                                          \
    clear_sides_##T(s, at, column);                                                                \
    memset(column + at.bottom * width, 0,                                                          \
           (size_t)((s->out_size[0] - at.bottom) * width) * sizeof(T));                            \
  }                                                                                                \
  static void add_##T(T *to, const T *from, int64_t n) {                                           \
    for (int64_t i = 0; i < n; i++)                                                                \
      to[i] += from[i];                                                                            \
  }                                                                                                \
  static void fold_row_##T(const td_correlation *s, span at, T *plane, T *column) {                \
    int64_t width = s->out_size[1], n = at.right - at.left, step = s->stride[1];                   \
    int64_t rows = at.bottom - at.top, pitch = s->stride[0] * s->size[1];                          \
    T *to = plane + at.first, *from = column + at.top * width + at.left;                           \
    if (rows <= 0 || n <= 0) return;                                                               \
    if (is_shift(s)) {                                                                             \
      clear_sides_##T(s, at, column);                                                              \
      add_##T(to, from, (rows - 1) * width + n);                                                   \
    } else                                                                                         \
      for (int64_t y = 0; y < rows; y++)                                                           \
        for (int64_t x = 0; x < n; x++)                                                            \
          to[y * pitch + x * step] += from[y * width + x];                                         \
  }                                                                                                \
  static void map_row_##T(const td_correlation *s, span at, T *plane, T *column, bool back) {      \
    if (back)                                                                                      \
      fold_row_##T(s, at, plane, column);                                                          \
    else                                                                                           \
      unfold_row_##T(s, at, plane, column);                                                        \
  }
DEFINE_UNFOLD(float)
DEFINE_UNFOLD(double)

static void *
element(td_tensor *tensor, int64_t at) {
  return (char *)td_tensor_data(tensor) + at * (int64_t)td_dtype_size(tensor->dtype);
}

/* Where the channels of the block's group in image `i` begin, and those in its output. */
static void *
image_at(const block *b, td_tensor *image, int64_t i) {
  const td_correlation *s = b->shape;
  return element(image, ((b->first + i) * s->groups + b->group) * s->channels * area_of(s->size));
}

static void *
output_at(const block *b, td_tensor *out, int64_t i) {
  const td_correlation *s = b->shape;
  int64_t channels = (b->first + i) * s->groups + b->group;
  return element(out, channels * s->out_channels * area_of(s->out_size));
}

static span *
new_spans(const td_correlation *self) {
  span *spans = TD_NEW_N(span, area_of(self->kernel));
  for (int64_t k = 0; k < area_of(self->kernel); k++)
    spans[k] = span_of(self, k / self->kernel[1], k % self->kernel[1]);
  return spans;
}

/* Between one image and its columns, which begin at `column`, `pitch` elements from row to row. */
static void
unfold_image(const block *b, const span *spans, char *image, char *column, int64_t pitch,
             bool back) {
  const td_correlation *s = b->shape;
  int64_t element_size = (int64_t)td_dtype_size(b->dtype), kernel = area_of(s->kernel);
  for (int64_t channel = 0; channel < s->channels; channel++) {
    for (int64_t k = 0; k < kernel; k++, column += pitch * element_size)
      if (b->dtype == TD_FLOAT32)
        map_row_float(s, spans[k], (float *)image, (float *)column, back);
      else
        map_row_double(s, spans[k], (double *)image, (double *)column, back);
    image += area_of(s->size) * element_size;
  }
}

/* Between the images and the columns; `back` adds the columns to the images, and clears those of
 * the padding. */
static void
unfold(const block *b, td_tensor *image, bool back) {
  int64_t area = area_of(b->shape->out_size);
  span *spans = new_spans(b->shape);
  for (int64_t i = 0; i < b->n; i++)
    unfold_image(b, spans, image_at(b, image, i), element(b->columns, i * area), b->n * area, back);
  free(spans);
}

/* Between the outputs [image][channel][area] and the rows [channel][image][area]. */
static void
gather(const block *b, td_tensor *out, bool back) {
  int64_t area = area_of(b->shape->out_size);
  size_t n_bytes = (size_t)area * td_dtype_size(b->dtype);
  for (int64_t i = 0; i < b->n; i++)
    for (int64_t channel = 0; channel < b->shape->out_channels; channel++) {
      char *plane = (char *)output_at(b, out, i) + channel * (int64_t)n_bytes;
      void *row = element(b->rows, (channel * b->n + i) * area);
      memcpy(back ? plane : row, back ? row : plane, n_bytes);
    }
}

static td_matrix
row_major(void *data, int64_t columns) {
  return (td_matrix){.data = data, .row_step = columns, .column_step = 1};
}

static td_matrix
transposed(void *data, int64_t columns) {
  return (td_matrix){.data = data, .row_step = 1, .column_step = columns};
}

static td_matrix
columns_of(const block *b, td_tensor *image) {
  return row_major(b->columns ? td_tensor_data(b->columns) : image_at(b, image, 0),
                   b->n * area_of(b->shape->out_size));
}

static td_matrix
rows_of(const block *b, td_tensor *out) {
  return row_major(b->rows ? td_tensor_data(b->rows) : output_at(b, out, 0),
                   b->n * area_of(b->shape->out_size));
}

static void *
weight_of(const block *b, td_tensor *weight) {
  return element(weight, b->group * b->shape->out_channels * patch_of(b->shape));
}

static void
apply_block(const block *b, td_tensor *image, td_tensor *weight, td_tensor *out, bool accumulate) {
  const td_correlation *s = b->shape;
  if (b->columns) unfold(b, image, false);
  if (b->rows && accumulate) gather(b, out, false);
  td_gemm(b->dtype, s->out_channels, patch_of(s), b->n * area_of(s->out_size),
          row_major(weight_of(b, weight), patch_of(s)), columns_of(b, image), rows_of(b, out),
          accumulate);
  if (b->rows) gather(b, out, true);
}

/* columns = weight^T rows, folded back */
static void
adjoint_block(const block *b, td_tensor *image, td_tensor *weight, td_tensor *out,
              bool accumulate) {
  const td_correlation *s = b->shape;
  if (b->rows) gather(b, out, false);
  td_gemm(b->dtype, patch_of(s), s->out_channels, b->n * area_of(s->out_size),
          transposed(weight_of(b, weight), patch_of(s)), rows_of(b, out), columns_of(b, image),
          false);
  if (b->columns) unfold(b, image, true);
}

/* weight = sum over images of rows columns^T */
static void
weight_block(const block *b, td_tensor *image, td_tensor *weight, td_tensor *out, bool accumulate) {
  const td_correlation *s = b->shape;
  if (b->columns) unfold(b, image, false);
  if (b->rows) gather(b, out, false);
  td_matrix columns = columns_of(b, image);
  td_gemm(b->dtype, s->out_channels, b->n * area_of(s->out_size), patch_of(s), rows_of(b, out),
          transposed(columns.data, columns.row_step), row_major(weight_of(b, weight), patch_of(s)),
          b->first > 0);
}

static td_status
new_matrix(td_dtype dtype, int64_t rows, int64_t columns, td_tensor **out, td_error *error) {
  return td_tensor_new_empty(dtype, TD_CPU, 2, (int64_t[]){rows, columns}, out, error);
}

typedef void (*block_kernel)(const block *b, td_tensor *image, td_tensor *weight, td_tensor *out,
                             bool accumulate);

static td_status
for_blocks(const td_correlation *self, td_tensor *image, td_tensor *weight, td_tensor *out,
           bool accumulate, block_kernel kernel, td_error *error) {
  TD_LOCAL(columns);
  TD_LOCAL(rows);
  int64_t area = area_of(self->out_size), most = ENOUGH_COLUMNS / TD_MAX(area, 1);
  int64_t n = TD_MAX(1, TD_MIN(self->batch, most));
  if (n > 1) TD_TRY(new_matrix(out->dtype, self->out_channels, n * area, &rows, error));
  if (n > 1 || !is_pointwise(self))
    TD_TRY(new_matrix(out->dtype, patch_of(self), n * area, &columns, error));
  for (int64_t first = 0; first < self->batch; first += n)
    for (int64_t group = 0; group < self->groups; group++) {
      block b = {.shape = self,
                 .dtype = out->dtype,
                 .first = first,
                 .group = group,
                 .n = TD_MIN(n, self->batch - first),
                 .columns = columns,
                 .rows = rows};
      kernel(&b, image, weight, out, accumulate);
    }
  return TD_OK;
}

td_status
td_correlation_apply(const td_correlation *self, td_tensor *image, td_tensor *weight,
                     td_tensor *out, bool accumulate, td_error *error) {
  if (!TD_LAUNCH("correlation", 1, out, image, weight)) return TD_OK;
  return for_blocks(self, image, weight, out, accumulate, apply_block, error);
}

td_status
td_correlation_adjoint(const td_correlation *self, td_tensor *out, td_tensor *weight,
                       td_tensor *image, td_error *error) {
  if (!TD_LAUNCH("correlation_adjoint", 1, image, weight, out)) return TD_OK;
  return for_blocks(self, image, weight, out, true, adjoint_block, error);
}

td_status
td_correlation_weight(const td_correlation *self, td_tensor *image, td_tensor *out,
                      td_tensor *weight, td_error *error) {
  if (!TD_LAUNCH("correlation_weight", 1, weight, image, out)) return TD_OK;
  return for_blocks(self, image, weight, out, true, weight_block, error);
}
