/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of accelerators, as torch/accelerator.py uses them. GIL held. A thread that waits
 * for a device releases the GIL meanwhile. */
#pragma once

#include "engine/torch/binding/tensor_object.h"

/* tdpy_warn_of_conflicts gives a UserWarning for each conflict of streams that was found since
 * the last call (Note [Missing waits]). Returns 0 with an exception if a filter made a warning
 * an error. */
int tdpy_warn_of_conflicts(void);

/* Call tdpy_tensor_read before Python looks at a tensor's elements. On an accelerator it reads
 * them on the current stream and waits. Returns 0 with an exception, as above. */
int tdpy_tensor_read(const td_tensor *tensor);

PyObject *tdpy_method_record_stream(PyObject *self, PyObject *stream); /* of torch.Tensor */
extern PyMethodDef tdpy_stream_functions[];
