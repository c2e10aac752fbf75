/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/ops/nn/grid_sample.h"

#include "engine/torch/ops/base/op.h"
#include "engine/torch/ops/nn/sample_taps.h"
#include "engine/torch/ops/pointwise/pointwise.h"
#include "engine/torch/pass/exec_info.h"

enum { INPUT, GRID, GRADIENT };

/* Of GridSampler2DBackward0, which saves input and grid, and of GridSampler2DBackwardBackward0,
 * which saves the gradient too. */
typedef struct sampler_node {
  td_op_node op;
  td_grid_sampling sampling;
} sampler_node;

/* What a kernel reads and writes; NULL is what it does without. All are contiguous. gg_image and
 * gg_grid are gradients of the gradients by image and grid. */
typedef struct sampled {
  const td_grid_sampling *sampling;
  td_tensor *image, *grid, *values, *gg_image, *gg_grid;
  td_tensor *d_image, *d_grid, *d_values;
} sampled;

/* One place of the grid in one plane; w is the weight of a tap, v the gradient of the value:
 * value = sum w image,  d image = w v,  d grid = v sum w' image. */
#define DEFINE_PLACE(T)                                                                            \
  static T value_##T(const T *image, const td_tap *taps, int n) {                                  \
    T sum = 0;                                                                                     \
    for (int i = 0; i < n; i++)                                                                    \
      sum += image[taps[i].at] * (T)taps[i].weight;                                                \
    return sum;                                                                                    \
  }                                                                                                \
  static void back_##T(const T *image, T v, const td_tap *taps, int n, T *d_image, T *d_grid) {    \
    for (int i = 0; i < n; i++) {                                                                  \
      if (d_image) d_image[taps[i].at] += (T)taps[i].weight * v;                                   \
      if (!d_grid) continue;                                                                       \
      d_grid[0] += image[taps[i].at] * (T)taps[i].x * v;                                           \
      d_grid[1] += image[taps[i].at] * (T)taps[i].y * v;                                           \
    }                                                                                              \
  }                                                                                                \
  /* The same of the gradients, with G by image and (gx, gy) by grid. */                           \
  static T twice_value_##T(const T *image, const T *g, const T *gg, const td_tap *taps, int n) {   \
    T sum = 0;                                                                                     \
    for (int i = 0; i < n; i++) {                                                                  \
      if (g) sum += g[taps[i].at] * (T)taps[i].weight;                                             \
      if (gg) sum += image[taps[i].at] * (gg[0] * (T)taps[i].x + gg[1] * (T)taps[i].y);            \
    }                                                                                              \
    return sum;                                                                                    \
  }                                                                                                \
  static void twice_back_##T(const T *image, const T *g, const T *gg, T v, const td_tap *taps,     \
                             int n, T *d_image, T *d_grid) {                                       \
    for (const td_tap *t = taps; t < taps + n; t++) {                                              \
      if (d_image && gg) d_image[t->at] += v * (gg[0] * (T)t->x + gg[1] * (T)t->y);                \
      if (d_grid && g) d_grid[0] += v * g[t->at] * (T)t->x, d_grid[1] += v * g[t->at] * (T)t->y;   \
      if (!d_grid || !gg) continue;                                                                \
      d_grid[0] += v * image[t->at] * (gg[0] * (T)t->xx + gg[1] * (T)t->xy);                       \
      d_grid[1] += v * image[t->at] * (gg[0] * (T)t->xy + gg[1] * (T)t->yy);                       \
    }                                                                                              \
  }
DEFINE_PLACE(float)
DEFINE_PLACE(double)

/* An element of a tensor that is there; and a tensor's elements from `at` on, or NULL. */
#define ELEMENT(T, tensor, at) (((T *)td_tensor_data(tensor))[at])
#define PART(T, tensor, at) ((tensor) ? (T *)td_tensor_data(tensor) + (at) : NULL)

/* Which planes and which place of the grid a kernel is at. */
typedef struct place {
  int64_t plane, value, grid, n_channels, area, n_values;
} place;

#define DEFINE_PLANES(T)                                                                           \
  static void forth_planes_##T(const sampled *s, place p, const td_tap *taps, int n) {             \
    for (int64_t c = 0; c < p.n_channels; c++, p.plane += p.area, p.value += p.n_values)           \
      ELEMENT(T, s->d_values, p.value) = value_##T(PART(T, s->image, p.plane), taps, n);           \
  }                                                                                                \
  static void back_planes_##T(const sampled *s, place p, const td_tap *taps, int n) {              \
    for (int64_t c = 0; c < p.n_channels; c++, p.plane += p.area, p.value += p.n_values)           \
      back_##T(PART(T, s->image, p.plane), ELEMENT(T, s->values, p.value), taps, n,                \
               PART(T, s->d_image, p.plane), PART(T, s->d_grid, p.grid));                          \
  }                                                                                                \
  static void twice_planes_##T(const sampled *s, place p, const td_tap *taps, int n) {             \
    for (int64_t c = 0; c < p.n_channels; c++, p.plane += p.area, p.value += p.n_values) {         \
      const T *image = PART(T, s->image, p.plane), *g = PART(T, s->gg_image, p.plane);             \
      const T *gg = PART(T, s->gg_grid, p.grid);                                                   \
      if (s->d_values) ELEMENT(T, s->d_values, p.value) = twice_value_##T(image, g, gg, taps, n);  \
      twice_back_##T(image, g, gg, ELEMENT(T, s->values, p.value), taps, n,                        \
                     PART(T, s->d_image, p.plane), PART(T, s->d_grid, p.grid));                    \
    }                                                                                              \
  }
DEFINE_PLANES(float)
DEFINE_PLANES(double)

typedef void (*planes_kernel)(const sampled *s, place p, const td_tap *taps, int n);
typedef struct kernel {
  planes_kernel of_float, of_double;
} kernel;
static const kernel forth = {forth_planes_float, forth_planes_double};
static const kernel back = {back_planes_float, back_planes_double};
static const kernel twice = {twice_planes_float, twice_planes_double};

static void
run(const sampled *s, kernel k) {
  const int64_t *sizes = s->image->sizes, *grid = s->grid->sizes;
  bool narrow = s->image->dtype == TD_FLOAT32;
  place p = {.n_channels = sizes[1], .area = sizes[2] * sizes[3], .n_values = grid[1] * grid[2]};
  td_tap taps[TD_MAX_TAPS];
  for (int64_t batch = 0; batch < sizes[0]; batch++)
    for (int64_t i = 0; i < p.n_values; i++) {
      p.plane = batch * p.n_channels * p.area;
      p.value = batch * p.n_channels * p.n_values + i;
      p.grid = 2 * (batch * p.n_values + i);
      double x = td_tensor_get(s->grid, p.grid), y = td_tensor_get(s->grid, p.grid + 1);
      int n = td_sample_taps(s->sampling, sizes + 2, narrow, x, y, taps);
      (narrow ? k.of_float : k.of_double)(s, p, taps, n);
    }
}

static td_status
check(td_tensor *input, td_tensor *grid, td_error *error) {
  char *a = td_tensor_shape_text(input), *b = td_tensor_shape_text(grid);
  td_status status = TD_OK;
  if (grid->n_dims < 1 || input->n_dims < 1 || input->sizes[0] != grid->sizes[0])
    status =
        td_error_set(error, TD_SHAPE,
                     "grid_sampler(): expected grid and input to have same batch size, but got "
                     "input with sizes %s and grid with sizes %s",
                     a, b);
  else if (grid->sizes[grid->n_dims - 1] != input->n_dims - 2)
    status =
        td_error_set(error, TD_SHAPE,
                     "grid_sampler(): expected grid to have size %d in last dimension, but got "
                     "grid with sizes %s",
                     input->n_dims - 2, b);
  else if (input->n_dims != 4 || grid->n_dims != 4)
    status = td_error_set(error, TD_SHAPE,
                          "grid_sampler(): expected 4D input and grid with same number of "
                          "dimensions, but got input with sizes %s and grid with sizes %s",
                          a, b);
  for (int i = 2; !status && i < 4; i++)
    if (input->sizes[i] == 0)
      status = td_error_set(error, TD_SHAPE,
                            "grid_sampler(): expected input to have non-empty spatial dimensions, "
                            "but input has sizes %s with dimension %d being empty",
                            a, i);
  free(a);
  free(b);
  return status;
}

static td_status
values_of(const td_grid_sampling *sampling, td_tensor *input, td_tensor *grid, td_tensor **out,
          td_error *error) {
  TD_LOCAL(image);
  TD_LOCAL(places);
  int64_t sizes[4] = {input->sizes[0], input->sizes[1], grid->sizes[1], grid->sizes[2]};
  TD_TRY(td_kernel_contiguous(input, &image, error));
  TD_TRY(td_kernel_contiguous(grid, &places, error));
  TD_TRY(td_tensor_new_empty(input->dtype, input->device, 4, sizes, out, error));
  sampled s = {.sampling = sampling, .image = image, .grid = places, .d_values = *out};
  if (TD_LAUNCH("grid_sampler_2d", 1, *out, image, places)) run(&s, forth);
  return TD_OK;
}

static const td_op_class twice_class;

/* The operation whose results are the gradients. */
static td_status
gradients(sampler_node *op, td_tensor *grad, td_tensor **outputs, td_error *error) {
  TD_LOCAL(input);
  TD_LOCAL(grid);
  TD_LOCAL(image);
  TD_LOCAL(places);
  TD_LOCAL(values);
  TD_TRY(td_op_saved(&op->op, INPUT, &input, error));
  TD_TRY(td_op_saved(&op->op, GRID, &grid, error));
  TD_TRY(td_kernel_contiguous(input, &image, error));
  TD_TRY(td_kernel_contiguous(grid, &places, error));
  TD_TRY(td_kernel_contiguous(grad, &values, error));
  if (td_needs_gradient(&op->op.node, INPUT))
    TD_TRY(td_tensor_new_like(image, &outputs[INPUT], error));
  if (td_needs_gradient(&op->op.node, GRID))
    TD_TRY(td_tensor_new_like(places, &outputs[GRID], error));
  sampled s = {.sampling = &op->sampling,
               .image = image,
               .grid = places,
               .values = values,
               .d_image = outputs[INPUT],
               .d_grid = outputs[GRID]};
  if (TD_LAUNCH("grid_sampler_2d_backward", 2, s.d_image, s.d_grid, image, places, values))
    run(&s, back);
  sampler_node *node = td_op_begin(&twice_class, sizeof *node, TD_INPUTS(grad, input, grid));
  if (!node) return TD_OK;
  node->sampling = op->sampling;
  td_op_save(&node->op, INPUT, input);
  td_op_save(&node->op, GRID, grid);
  td_op_save(&node->op, GRADIENT, grad);
  td_function_end(&node->op.node, outputs, 2);
  return TD_OK;
}

static td_status
sampler_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  outputs[INPUT] = outputs[GRID] = NULL;
  if (!inputs[0]) return TD_OK;
  td_status status = gradients((sampler_node *)node, inputs[0], outputs, error);
  if (status) td_op_drop(outputs, 2);
  return status;
}
static const td_op_class sampler_class = {
    {.name = "GridSampler2DBackward0", .apply = sampler_apply, .release_variables = td_op_release}};

/* The results are in the order of the edges: gradient, input, grid. */
static td_status
twice_gradients(sampler_node *op, td_tensor *const *gg, td_tensor **outputs, td_error *error) {
  TD_LOCAL(input);
  TD_LOCAL(grid);
  TD_LOCAL(grad);
  TD_LOCAL(image);
  TD_LOCAL(places);
  TD_LOCAL(values);
  TD_LOCAL(g);
  TD_LOCAL(gg_grid);
  TD_TRY(td_op_saved(&op->op, INPUT, &input, error));
  TD_TRY(td_op_saved(&op->op, GRID, &grid, error));
  TD_TRY(td_op_saved(&op->op, GRADIENT, &grad, error));
  TD_TRY(td_kernel_contiguous(input, &image, error));
  TD_TRY(td_kernel_contiguous(grid, &places, error));
  TD_TRY(td_kernel_contiguous(grad, &values, error));
  if (gg[INPUT]) TD_TRY(td_kernel_contiguous(gg[INPUT], &g, error));
  if (gg[GRID]) TD_TRY(td_kernel_contiguous(gg[GRID], &gg_grid, error));
  td_tensor *const likes[] = {values, image, places};
  /* The gradient by grid alone has to do with the image's values, and not if it takes the nearest.
   */
  bool of_image = gg_grid && op->sampling.mode != TD_SAMPLING_NEAREST;
  for (uint32_t i = 0; i < 3; i++)
    if (td_needs_gradient(&op->op.node, i) && (i != 1 || of_image))
      TD_TRY(td_tensor_new_like(likes[i], &outputs[i], error));
  sampled s = {&op->sampling, image,      places,     values,    g,
               gg_grid,       outputs[1], outputs[2], outputs[0]};
  if (TD_LAUNCH("grid_sampler_2d_double_backward", 3, s.d_values, s.d_image, s.d_grid, image,
                places, values, g, gg_grid))
    run(&s, twice);
  td_tensor *inputs[] = {gg[INPUT], gg[GRID], grad, input, grid};
  for (int i = 0; i < 3; i++)
    if (outputs[i]) td_op_end_once(outputs[i], inputs, 5);
  return TD_OK;
}

static td_status
twice_apply(td_node *node, td_tensor *const *inputs, td_tensor **outputs, td_error *error) {
  memset(outputs, 0, 3 * sizeof *outputs);
  if (!inputs[INPUT] && !inputs[GRID]) return TD_OK;
  td_status status = twice_gradients((sampler_node *)node, inputs, outputs, error);
  if (status) td_op_drop(outputs, 3);
  return status;
}
static const td_op_class twice_class = {{.name = "GridSampler2DBackwardBackward0",
                                         .apply = twice_apply,
                                         .release_variables = td_op_release}};

td_status
td_op_grid_sampler(const td_grid_sampling *sampling, td_tensor *input, td_tensor *grid,
                   td_tensor **out, td_error *error) {
  td_device device;
  TD_TRY(check(input, grid, error));
  TD_TRY(td_op_want_floating(input, "grid_sampler_2d_cpu_kernel_impl", error));
  TD_TRY(td_op_common_device(2, (td_tensor *[]){input, grid}, &device, error));
  if (grid->dtype != input->dtype)
    return td_error_set(error, TD_DTYPE, "expected scalar type %s but found %s",
                        td_op_scalar_type(input->dtype), td_op_scalar_type(grid->dtype));
  if (td_dtype_is_half(input->dtype))
    return td_error_set(error, TD_UNSUPPORTED, "grid_sampler: no kernel for halves");
  TD_TRY(values_of(sampling, input, grid, out, error));
  sampler_node *node = td_op_begin(&sampler_class, sizeof *node, TD_INPUTS(input, grid));
  if (!node) return TD_OK;
  node->sampling = *sampling;
  td_op_save(&node->op, INPUT, input);
  td_op_save(&node->op, GRID, grid);
  td_op_end(&node->op, *out);
  return TD_OK;
}
