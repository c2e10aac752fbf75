/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The printed form of tensors, laid out as in PyTorch's torch/_tensor_str.py. Numbers have four
 * decimals, whole numbers only a point. Powers of ten appear if values differ much. Of more than
 * 1,000 elements it shows three at each end. */
#include "engine/torch/binding/convert.h"
#include "engine/torch/binding/node_object.h"
#include "engine/torch/binding/stream.h"
#include "engine/torch/binding/tensor_type.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/tensor/factories.h"
#include "engine/torch/tensor/sparse.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 7 /* strlen("tensor(") */ };

/* What set_printoptions() sets. scientific -1: as the numbers want it. */
static struct {
  int precision, threshold, edge_items, line, scientific;
} options = {.precision = 4, .threshold = 1000, .edge_items = 3, .line = 80, .scientific = -1};

typedef struct printer {
  const td_tensor *tensor;
  FILE *file;
  bool summarize, whole, scientific;
  bool imaginary;  /* of complex numbers: formats the other part */
  double min, max; /* least and largest size of the finite values that are not zero; max 0: there
                      are none */
  int width;
  const struct printer *other; /* (borrowed) of the imaginary parts, or NULL */
} printer;

static double
value_at(const printer *self, int64_t index) {
  td_complex128 value = td_tensor_get_complex(self->tensor, index);
  return self->imaginary ? cimag(value) : creal(value);
}

/* Calls visit for each shown element, in order. */
static void
visit_shown(printer *self, int dim, int64_t index, void (*visit)(printer *, int64_t index)) {
  const td_tensor *tensor = self->tensor;
  if (dim == tensor->n_dims) {
    visit(self, index);
    return;
  }
  int64_t n = tensor->sizes[dim];
  for (int64_t i = 0; i < n; i++) {
    if (self->summarize && n > 2 * options.edge_items && i == options.edge_items)
      i = n - options.edge_items;
    visit_shown(self, dim + 1, index * n + i, visit);
  }
}

static int
print_value(const printer *self, int64_t index, char *text, size_t size) {
  double value = value_at(self, index);
  if (self->tensor->dtype == TD_BOOL)
    return snprintf(text, size, "%s", value != 0 ? "True" : "False");
  if (!td_dtype_is_differentiable(self->tensor->dtype))
    return snprintf(text, size, "%" PRId64, td_tensor_get_integer(self->tensor, index));
  if (isnan(value)) return snprintf(text, size, "nan");
  if (isinf(value)) return snprintf(text, size, value < 0 ? "-inf" : "inf");
  if (self->scientific) return snprintf(text, size, "%.*e", options.precision, value);
  if (self->whole) return snprintf(text, size, "%.0f.", value);
  return snprintf(text, size, "%.*f", options.precision, value);
}

static void
measure_extent(printer *self, int64_t index) {
  double value = value_at(self, index);
  if (!isfinite(value) || value == 0) return;
  self->min = fmin(self->min, fabs(value));
  self->max = fmax(self->max, fabs(value));
  if (value != ceil(value)) self->whole = false;
}

static void
measure_width(printer *self, int64_t index) {
  char text[400];
  double value = value_at(self, index);
  bool floating = td_dtype_is_differentiable(self->tensor->dtype);
  if (floating && (!isfinite(value) || value == 0)) return;
  self->width = TD_MAX(self->width, print_value(self, index, text, sizeof text));
}

/* Walks twice over the shown values: first to choose the style, then to find the width. */
static void
choose_format(printer *self) {
  self->whole = true;
  self->width = 1;
  self->min = INFINITY;
  visit_shown(self, 0, 0, measure_extent);
  if (self->max > 0 && td_dtype_is_differentiable(self->tensor->dtype))
    self->scientific =
        self->max / self->min > 1000 || self->max > 1e8 || (!self->whole && self->min < 1e-4);
  if (options.scientific >= 0) self->scientific = options.scientific;
  visit_shown(self, 0, 0, measure_width);
}

static void
print_scalar(printer *self, int64_t index) {
  char text[400];
  print_value(self, index, text, sizeof text);
  fprintf(self->file, "%*s", self->width, text);
  if (!self->other) return;
  print_value(self->other, index, text, sizeof text);
  fprintf(self->file, "%s%sj", text[0] == '-' ? "" : "+", text);
}

static bool
skips_at(const printer *self, int64_t n, int64_t i) {
  return self->summarize && n > 2 * options.edge_items && i == options.edge_items;
}

static void
print_vector(printer *self, int64_t index, int indent) {
  int64_t n = self->tensor->sizes[self->tensor->n_dims - 1];
  int wide = self->width + 2 + (self->other ? self->other->width + 1 : 0);
  int per_line = TD_MAX(1, (options.line - indent) / wide), column = 0;
  fputc('[', self->file);
  for (int64_t i = 0; i < n; i++, column++) {
    if (column == per_line)
      fprintf(self->file, ",\n%*s", indent + 1, ""), column = 0;
    else if (i)
      fputs(", ", self->file);
    if (skips_at(self, n, i)) {
      fputs(" ...", self->file);
      i = n - options.edge_items - 1;
    } else
      print_scalar(self, index + i);
  }
  fputc(']', self->file);
}

static void
print_dims(printer *self, int dim, int64_t index, int indent) {
  int left = self->tensor->n_dims - dim;
  if (left == 0)
    print_scalar(self, index);
  else if (left == 1)
    print_vector(self, index * self->tensor->sizes[dim], indent);
  if (left <= 1) return;
  int64_t n = self->tensor->sizes[dim];
  fputc('[', self->file);
  for (int64_t i = 0; i < n; i++) {
    if (i) fprintf(self->file, ",%.*s%*s", left - 1, "\n\n\n\n\n\n\n\n", indent + 1, "");
    if (skips_at(self, n, i)) {
      fputs("...", self->file);
      i = n - options.edge_items - 1;
    } else
      print_dims(self, dim + 1, index * n + i, indent + 1);
  }
  fputc(']', self->file);
}

static bool
dtype_is_obvious(td_dtype dtype, bool empty) {
  return dtype == td_default_dtype() || dtype == TD_COMPLEX64 ||
         (!empty && (dtype == TD_INT64 || dtype == TD_BOOL));
}

static void
add_suffix(FILE *file, const char *text, int *column) {
  int length = (int)strlen(text);
  bool wraps = *column + length + 2 > options.line;
  fprintf(file, wraps ? ",\n%*s%s" : ", %*s%s", wraps ? INDENT : 0, "", text);
  *column = wraps ? INDENT + length : *column + length + 2;
}

/* What stands behind the elements besides what the tensor itself tells. */
typedef struct behind {
  bool is_lost;    /* a write has made the history unknown */
  bool is_dual;    /* its history is that of its tangent alone */
  PyObject *words; /* (owned reference) "tangent=...", or NULL */
} behind;

/* Forward mode sets a function that gives (whether to show the history, the tangent's text), or
 * None. */
static PyObject *tell_tangent;

PyObject *
tdpy_set_tangent_teller(PyObject *module, PyObject *function) {
  Py_XSETREF(tell_tangent, function == Py_None ? NULL : Py_NewRef(function));
  Py_RETURN_NONE;
}

static bool
ask_tangent(PyObject *self, behind *behind) {
  PyObject *told = tell_tangent ? PyObject_CallOneArg(tell_tangent, self) : Py_NewRef(Py_None);
  int has_history = 1;
  bool fine =
      told && (told == Py_None || PyArg_ParseTuple(told, "pU", &has_history, &behind->words));
  behind->is_dual = !has_history;
  if (fine) Py_XINCREF(behind->words);
  Py_XDECREF(told);
  return fine;
}

static void
print_suffixes(const td_tensor *tensor, const behind *behind, FILE *file, int column) {
  bool empty = td_tensor_n_elements(tensor) == 0;
  char *texts[8] = {0};
  int n = 0;
  if (tensor->sparse) {
    char *shape = td_sizes_text(tensor->n_dims, tensor->sizes);
    texts[n++] = td_format("size=(%.*s%s)", (int)strlen(shape) - 2, shape + 1,
                           tensor->n_dims == 1 ? "," : "");
    free(shape);
  }
  if (tensor->device != TD_CPU)
    texts[n++] = td_format("device='%s'", td_device_name(tensor->device));
  bool is_meta = tensor->device == TD_META;
  if (tensor->sparse)
    texts[n++] = td_format("nnz=%lld", (long long)tensor->sparse->values->sizes[0]);
  else if (is_meta || (empty && tensor->n_dims != 1)) {
    char *shape = td_sizes_text(tensor->n_dims, tensor->sizes);
    const char *comma = is_meta && tensor->n_dims == 1 ? "," : "";
    texts[n++] = td_format("size=(%.*s%s)", (int)strlen(shape) - 2, shape + 1, comma);
    free(shape);
  }
  if (!dtype_is_obvious(tensor->dtype, empty))
    texts[n++] = td_format("dtype=%s", td_dtype_name(tensor->dtype));
  if (tensor->sparse) texts[n++] = td_dup_string("layout=torch.sparse_coo");
  if (behind->is_lost)
    texts[n++] = td_dup_string("grad_fn=<Invalid>");
  else if (td_grad_fn(tensor) && !behind->is_dual)
    texts[n++] = td_format("grad_fn=<%s>", td_node_name(td_grad_fn(tensor)));
  else if (td_requires_grad(tensor) && !behind->is_dual)
    texts[n++] = td_dup_string("requires_grad=True");
  if (behind->words) texts[n++] = td_dup_string(PyUnicode_AsUTF8(behind->words));
  for (int i = 0; i < n; i++) {
    add_suffix(file, texts[i], &column);
    free(texts[i]);
  }
}

static void
print_elements(const td_tensor *tensor, FILE *file, int indent) {
  printer self = {.tensor = tensor,
                  .file = file,
                  .summarize = td_tensor_n_elements(tensor) > options.threshold};
  printer other = self;
  if (!td_tensor_has_data(tensor)) {
    fputs("...", file);
    return;
  }
  if (td_tensor_n_elements(tensor) == 0) {
    fputs("[]", file);
    return;
  }
  if (td_dtype_is_complex(tensor->dtype)) {
    other.imaginary = true;
    choose_format(&other);
    self.other = &other;
  }
  choose_format(&self);
  print_dims(&self, 0, 0, indent);
}

/* Prints indices and values, each aligned below its own beginning. */
static void
print_sparse(const td_tensor *tensor, FILE *file) {
  static const char first[] = "indices=tensor(", second[] = "values=tensor(";
  fputs(first, file);
  print_elements(tensor->sparse->indices, file, INDENT + (int)strlen(first));
  fprintf(file, "),\n%*s%s", INDENT, "", second);
  print_elements(tensor->sparse->values, file, INDENT + (int)strlen(second));
  fputc(')', file);
}

static int
length_of_last_line(const char *text) {
  const char *newline = strrchr(text, '\n');
  return (int)strlen(newline ? newline + 1 : text);
}

/* What stands before the parenthesis. A program's own class has its own name. */
static const char *
name_of(PyObject *self) {
  if (Py_IS_TYPE(self, &tdpy_tensor_type) || !PyObject_HasAttrString(self, "_prints_its_class"))
    return "tensor";
  const char *dot = strrchr(Py_TYPE(self)->tp_name, '.');
  return dot ? dot + 1 : Py_TYPE(self)->tp_name;
}

PyObject *
tdpy_set_printoptions(PyObject *self, PyObject *args) {
  if (!PyArg_ParseTuple(args, "iiiii", &options.precision, &options.threshold, &options.edge_items,
                        &options.line, &options.scientific))
    return NULL;
  Py_RETURN_NONE;
}

PyObject *
tdpy_tensor_repr(PyObject *self) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  char *text = NULL;
  size_t size = 0;
  if (!tdpy_tensor_read(tensor)) return NULL;
  behind behind = {.is_lost = !tdpy_tensor_has_history(self)};
  if (behind.is_lost && !td_policy(name_operations)) return NULL; /* 1.13 raises the error */
  if (behind.is_lost) PyErr_Clear();
  if (!ask_tangent(self, &behind)) return NULL;
  FILE *file = open_memstream(&text, &size);
  if (!file) return PyErr_NoMemory();
  const char *name = name_of(self);
  fprintf(file, "%s(", name);
  if (tensor->sparse)
    print_sparse(tensor, file);
  else
    print_elements(tensor, file, (int)strlen(name) + 1);
  fflush(file);
  print_suffixes(tensor, &behind, file,
                 tensor->sparse ? options.line : length_of_last_line(text) + 1);
  fputc(')', file);
  fclose(file);
  PyObject *result = PyUnicode_FromStringAndSize(text, (Py_ssize_t)size);
  Py_XDECREF(behind.words);
  free(text);
  return result;
}

/* A single number takes a format, as in f"{loss:.4f}". Other tensors only print as usual. */
PyObject *
tdpy_tensor_format(PyObject *self, PyObject *specification) {
  const td_tensor *tensor = tdpy_tensor_of(self);
  if (tensor->n_dims > 0 && PyUnicode_GetLength(specification) > 0)
    return PyErr_Format(PyExc_TypeError, "unsupported format string passed to %s.__format__",
                        _PyType_Name(Py_TYPE(self)));
  if (tensor->n_dims > 0) return PyObject_Str(self);
  PyObject *number = tdpy_element(tensor, 0);
  PyObject *formatted = number ? PyObject_Format(number, specification) : NULL;
  Py_XDECREF(number);
  return formatted;
}
