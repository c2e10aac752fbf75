/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tensor.grad: which tensors a program may assign to it, in the words of each PyTorch. */
#include "engine/torch/binding/tensor_type.h"

#include "engine/base/alloc.h"
#include "engine/torch/device/device.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/tensor_hooks.h"
#include "engine/torch/graph/variable.h"

static bool
warn_of_non_leaf(void) {
  return PyErr_WarnFormat(
             PyExc_UserWarning, 1,
             "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
             ".grad attribute won't be populated during autograd.backward(). If you indeed want "
             "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
             "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
             "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more "
             "information%s.",
             td_policy(name_operations) ? "" : "s") == 0;
}

PyObject *
tdpy_tensor_get_grad(PyObject *self, void *closure) {
  td_tensor *tensor = tdpy_tensor_of(self), *grad = td_grad_get(tensor);
  if (grad) return tdpy_tensor_wrap(grad);
  bool is_leaf = !td_grad_fn_stored(tensor);
  if (!is_leaf && !td_retains_grad(tensor) && !warn_of_non_leaf()) return NULL;
  Py_RETURN_NONE;
}

static bool
refuse(const char *format, ...) {
  va_list args;
  va_start(args, format);
  PyErr_FormatV(PyExc_RuntimeError, format, args);
  va_end(args);
  return false;
}

static bool
refuse_dtype(const td_tensor *tensor, const td_tensor *grad) {
  refuse("attempting to assign a gradient with dtype '%s' to a tensor with grad_dtype '%s'. The "
         "gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can "
         "set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
         "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
         "downstream systems that assume they match.",
         td_dtype_cpp_name(grad->dtype), td_dtype_scalar_name(tensor->dtype));
  return false;
}

/* "cpu", "sim": without the number. */
static char *
device_type(td_device device) {
  char *name = td_dup_string(td_device_name(device));
  name[strcspn(name, ":")] = '\0';
  return name;
}

static bool
refuse_device(const td_tensor *tensor, const td_tensor *grad) {
  char *got = device_type(grad->device), *wanted = device_type(tensor->device);
  refuse("attempting to assign a gradient with device type '%s' to a tensor with device type "
         "'%s'. Please ensure that the gradient and the tensor are on the same device",
         got, wanted);
  free(got);
  free(wanted);
  return false;
}

static bool
refuse_size(const td_tensor *tensor, const td_tensor *grad) {
  char *got = td_tensor_shape_text(grad), *wanted = td_tensor_shape_text(tensor);
  refuse("attempting to assign a gradient of size '%s' to a tensor of size '%s'. Please ensure "
         "that the gradient and the tensor are the same size",
         got, wanted);
  free(got);
  free(wanted);
  return false;
}

static bool
fits_as_grad(const td_tensor *tensor, const td_tensor *grad) {
  bool says_how = td_policy(refused_grad_says_how);
  if (grad == tensor) return refuse("can't assign Variable as its own grad");
  if (grad->dtype != tensor->dtype)
    return says_how ? refuse_dtype(tensor, grad)
                    : refuse("assigned grad has data of a different type");
  if (grad->device != tensor->device)
    return says_how ? refuse_device(tensor, grad)
                    : refuse("assigned grad has data of a different type");
  if (!td_tensor_same_sizes(grad, tensor))
    return says_how ? refuse_size(tensor, grad)
                    : refuse("assigned grad has data of a different size");
  return true;
}

int
tdpy_tensor_set_grad(PyObject *self, PyObject *value, void *closure) {
  td_tensor *tensor = tdpy_tensor_of(self);
  if (value && value != Py_None && !tdpy_tensor_is(value)) {
    PyErr_Format(PyExc_TypeError,
                 "assigned grad expected to be a Tensor or None but got grad of type%s%s",
                 td_policy(refused_grad_says_how) ? " " : "", Py_TYPE(value)->tp_name);
    return -1;
  }
  td_tensor *grad = value && value != Py_None ? tdpy_tensor_of(value) : NULL;
  if (grad && !fits_as_grad(tensor, grad)) return -1;
  td_grad_set(tensor, grad);
  return 0;
}
