/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams of accelerators, as tapedeck/accelerator.py uses them. With the GIL held, which is let go
 * while a thread waits for a device. */
#pragma once

#include "engine/python/tensor_object.h"

/* tdpy_warn_of_conflicts gives a UserWarning for every conflict of streams that was found since it
 * was called last (Note [Missing waits]); 0 with an exception where one was turned into an error.
 */
int tdpy_warn_of_conflicts(void);

/* tdpy_tensor_read is called before Python looks at a tensor's elements: on an accelerator they are
 * read on the current stream, and waited for. 0 with an exception, as above. */
int tdpy_tensor_read(const td_tensor *tensor);

PyObject *tdpy_method_record_stream(PyObject *self, PyObject *stream); /* of torch.Tensor */
extern PyMethodDef tdpy_stream_functions[];
