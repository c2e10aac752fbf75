/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * conv2d by unfolding: an image's patches become the columns of a matrix [c kh kw, oh ow], and the
 * convolution is the product of the weight, seen as [o, c kh kw], with it. */
#include "engine/ops/convolution.h"

#include "engine/ops/gemm.h"
#include "engine/ops/op.h"
#include "engine/ops/reduce.h"

typedef struct geometry {
  int64_t batch, channels, height, width; /* input [batch, channels, height, width] */
  int64_t out_channels, kernel[2];        /* weight [out_channels, channels, kernel] */
  int64_t stride[2], padding[2];
  int64_t out_height, out_width; /* output [batch, out_channels, out_height, out_width] */
} geometry;

typedef struct convolution_node {
  td_op_node op;
  geometry geometry;
} convolution_node;

static int64_t
patch_size(const geometry *g) {
  return g->channels * g->kernel[0] * g->kernel[1];
}

static int64_t
out_area(const geometry *g) {
  return g->out_height * g->out_width;
}

/* Visits each element of the columns: to_columns copies it from the image (0 in the padding), else
 * it is added to the image: the transpose of the same map. */
#define DEFINE_UNFOLD(T)                                                                           \
  static void unfold_##T(const geometry *g, T *image, T *columns, bool to_columns) {               \
    for (int64_t row = 0; row < patch_size(g); row++) {                                            \
      int64_t kx = row % g->kernel[1], ky = row / g->kernel[1] % g->kernel[0];                     \
      T *plane = image + row / (g->kernel[0] * g->kernel[1]) * g->height * g->width;               \
      for (int64_t oy = 0; oy < g->out_height; oy++) {                                             \
        int64_t y = oy * g->stride[0] - g->padding[0] + ky;                                        \
        T *column = columns + row * out_area(g) + oy * g->out_width;                               \
        for (int64_t ox = 0; ox < g->out_width; ox++) {                                            \
          int64_t x = ox * g->stride[1] - g->padding[1] + kx;                                      \
          bool inside = y >= 0 && y < g->height && x >= 0 && x < g->width;                         \
          if (to_columns)                                                                          \
            column[ox] = inside ? plane[y * g->width + x] : 0;                                     \
          else if (inside)                                                                         \
            plane[y * g->width + x] += column[ox];                                                 \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
DEFINE_UNFOLD(float)
DEFINE_UNFOLD(double)

static void
unfold(td_dtype dtype, const geometry *g, void *image, void *columns, bool to_columns) {
  if (dtype == TD_FLOAT32)
    unfold_float(g, image, columns, to_columns);
  else
    unfold_double(g, image, columns, to_columns);
}

static void *
image_of(const td_tensor *tensor, int64_t i) {
  int64_t element = (int64_t)td_dtype_size(tensor->dtype);
  return (char *)td_tensor_data(tensor) + i * tensor->strides[0] * element;
}

static td_status
new_columns(const td_tensor *like, const geometry *g, td_tensor **out, td_error *error) {
  int64_t sizes[] = {patch_size(g), out_area(g)};
  return td_tensor_new_empty(like->dtype, TD_CPU, 2, sizes, out, error);
}

static td_matrix
row_major(void *data, int64_t columns) {
  return (td_matrix){.data = data, .row_step = columns, .column_step = 1};
}

static td_matrix
transposed(void *data, int64_t columns) {
  return (td_matrix){.data = data, .row_step = 1, .column_step = columns};
}

/* output[i] = weight columns(input[i]); all contiguous. */
static td_status
forward_kernel(const geometry *g, td_tensor *input, td_tensor *weight, td_tensor *output,
               td_error *error) {
  TD_LOCAL(columns);
  TD_TRY(new_columns(input, g, &columns, error));
  int64_t patch = patch_size(g), area = out_area(g);
  for (int64_t i = 0; i < g->batch; i++) {
    unfold(input->dtype, g, image_of(input, i), td_tensor_data(columns), true);
    td_gemm(input->dtype, g->out_channels, patch, area, row_major(td_tensor_data(weight), patch),
            row_major(td_tensor_data(columns), area), row_major(image_of(output, i), area), false);
  }
  return TD_OK;
}

/* d columns = weight^T d output[i], folded back into d input[i] */
static td_status
input_gradient(const geometry *g, td_tensor *grad, td_tensor *weight, td_tensor **out,
               td_error *error) {
  TD_LOCAL(columns);
  TD_TRY(new_columns(grad, g, &columns, error));
  int64_t sizes[] = {g->batch, g->channels, g->height, g->width};
  int64_t patch = patch_size(g), area = out_area(g);
  TD_TRY(td_tensor_new(grad->dtype, grad->device, 4, sizes, out, error));
  for (int64_t i = 0; i < g->batch; i++) {
    td_gemm(grad->dtype, patch, g->out_channels, area, transposed(td_tensor_data(weight), patch),
            row_major(image_of(grad, i), area), row_major(td_tensor_data(columns), area), false);
    unfold(grad->dtype, g, image_of(*out, i), td_tensor_data(columns), false);
  }
  return TD_OK;
}

/* d weight = sum over i of d output[i] columns(input[i])^T */
static td_status
weight_gradient(const geometry *g, td_tensor *grad, td_tensor *input, td_tensor **out,
                td_error *error) {
  TD_LOCAL(columns);
  TD_TRY(new_columns(grad, g, &columns, error));
  int64_t sizes[] = {g->out_channels, g->channels, g->kernel[0], g->kernel[1]};
  int64_t patch = patch_size(g), area = out_area(g);
  TD_TRY(td_tensor_new(grad->dtype, grad->device, 4, sizes, out, error));
  for (int64_t i = 0; i < g->batch; i++) {
    unfold(grad->dtype, g, image_of(input, i), td_tensor_data(columns), true);
    td_gemm(grad->dtype, g->out_channels, area, patch, row_major(image_of(grad, i), area),
            transposed(td_tensor_data(columns), area), row_major(td_tensor_data(*out), patch),
            true);
  }
  return TD_OK;
}

static td_status
convolution_formula(td_op_node *op, td_tensor *grad, uint32_t which, td_tensor **out,
                    td_error *error) {
  const geometry *g = &((convolution_node *)op)->geometry;
  TD_LOCAL(other);
  TD_LOCAL(contiguous);
  TD_LOCAL(other_contiguous);
  if (which == 2) return td_op_sum_dims(grad, 3, (int64_t[]){0, 2, 3}, false, out, error);
  TD_TRY(td_op_saved(op, which == 0 ? 1 : 0, &other, error));
  TD_TRY(td_kernel_contiguous(grad, &contiguous, error));
  TD_TRY(td_kernel_contiguous(other, &other_contiguous, error));
  if (which == 0)
    TD_TRY(input_gradient(g, contiguous, other_contiguous, out, error));
  else
    TD_TRY(weight_gradient(g, contiguous, other_contiguous, out, error));
  td_op_end_once(*out, TD_INPUTS(grad, other));
  return TD_OK;
}
static const td_op_class convolution_class =
    TD_OP_CLASS("ConvolutionBackward0", convolution_formula);

static td_status
check_sizes(td_tensor *input, td_tensor *weight, td_tensor *bias, td_error *error) {
  if (input->n_dims != 4 || weight->n_dims != 4)
    return td_error_set(error, TD_SHAPE,
                        "conv2d: expected a 4D input and a 4D weight, but got %dD and %dD",
                        input->n_dims, weight->n_dims);
  if (input->sizes[1] != weight->sizes[1]) {
    char *i = td_tensor_shape_text(input), *w = td_tensor_shape_text(weight);
    td_error_set(error, TD_SHAPE,
                 "Given groups=1, weight of size %s, expected input%s to have %lld channels, but "
                 "got %lld channels instead",
                 w, i, (long long)weight->sizes[1], (long long)input->sizes[1]);
    free(i);
    free(w);
    return TD_SHAPE;
  }
  if (bias && (bias->n_dims != 1 || bias->sizes[0] != weight->sizes[0]))
    return td_error_set(error, TD_SHAPE,
                        "Given weight of size %lld, expected bias to be 1-dimensional with %lld "
                        "elements",
                        (long long)weight->sizes[0], (long long)weight->sizes[0]);
  return TD_OK;
}

static td_status
make_geometry(td_tensor *input, td_tensor *weight, const int64_t stride[2],
              const int64_t padding[2], geometry *g, td_error *error) {
  *g = (geometry){.batch = input->sizes[0],
                  .channels = input->sizes[1],
                  .height = input->sizes[2],
                  .width = input->sizes[3],
                  .out_channels = weight->sizes[0],
                  .kernel = {weight->sizes[2], weight->sizes[3]},
                  .stride = {stride[0], stride[1]},
                  .padding = {padding[0], padding[1]}};
  if (stride[0] <= 0 || stride[1] <= 0)
    return td_error_set(error, TD_INVALID, "non-positive stride is not supported");
  if (padding[0] < 0 || padding[1] < 0)
    return td_error_set(error, TD_INVALID, "negative padding is not supported");
  int64_t height = g->height + 2 * padding[0], width = g->width + 2 * padding[1];
  if (g->kernel[0] < 1 || g->kernel[1] < 1 || height < g->kernel[0] || width < g->kernel[1])
    return td_error_set(error, TD_SHAPE,
                        "Calculated padded input size per channel: (%lld x %lld). Kernel size: "
                        "(%lld x %lld). Kernel size can't be greater than actual input size",
                        (long long)height, (long long)width, (long long)g->kernel[0],
                        (long long)g->kernel[1]);
  g->out_height = (height - g->kernel[0]) / stride[0] + 1;
  g->out_width = (width - g->kernel[1]) / stride[1] + 1;
  return TD_OK;
}

static td_status
convolution_result(const geometry *g, td_tensor *input, td_tensor *weight, td_tensor *bias,
                   td_tensor **out, td_error *error) {
  td_device device;
  TD_LOCAL(image);
  TD_LOCAL(kernel);
  TD_LOCAL(result);
  TD_TRY(td_op_common_device(3, (td_tensor *[]){input, weight, bias}, &device, error));
  TD_TRY(td_kernel_contiguous(input, &image, error));
  TD_TRY(td_kernel_contiguous(weight, &kernel, error));
  int64_t sizes[] = {g->batch, g->out_channels, g->out_height, g->out_width};
  TD_TRY(td_tensor_new_empty(input->dtype, device, 4, sizes, &result, error));
  TD_TRY(forward_kernel(g, image, kernel, result, error));
  if (bias) {
    TD_LOCAL(planes);
    int64_t strides[] = {0, bias->strides[0], 0, 0};
    planes = td_tensor_new_view(bias, 4, sizes, strides, bias->offset);
    td_kernel_add_into(result, planes);
  }
  *out = TD_TAKE(result);
  return TD_OK;
}

td_status
td_op_conv2d(td_tensor *input, td_tensor *weight, td_tensor *bias, const int64_t stride[2],
             const int64_t padding[2], td_tensor **out, td_error *error) {
  geometry g;
  TD_TRY(check_sizes(input, weight, bias, error));
  TD_TRY(td_op_want_floating(input, "conv2d", error));
  TD_TRY(td_op_same_dtype(input, weight, error));
  if (bias) TD_TRY(td_op_same_dtype(input, bias, error));
  TD_TRY(make_geometry(input, weight, stride, padding, &g, error));
  TD_TRY(convolution_result(&g, input, weight, bias, out, error));
  convolution_node *node =
      td_op_begin(&convolution_class, sizeof *node, TD_INPUTS(input, weight, bias));
  if (!node) return TD_OK;
  node->geometry = g;
  td_op_save(&node->op, 0, td_requires_grad(weight) ? input : NULL);
  td_op_save(&node->op, 1, td_requires_grad(input) ? weight : NULL);
  td_op_end(&node->op, *out);
  return TD_OK;
}
