/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The object that Python has for a custom function's node, read without Python's headers. */
#pragma once

#include "engine/probe/observer/classes.hpp"

namespace tapedeck {

/* The beginning of CPython's objects and types, as it has been since 2.2; builds without a GIL
 * differ. */
struct PythonType {
  ssize_t references;
  PythonType *type;
  ssize_t size;
  const char *name;
  ssize_t basic_size; /* of its objects, bytes */
};
struct PythonObject {
  ssize_t references;
  PythonType *type;
};

#if !TORCH_AT_LEAST(2, 13)
/* Where PyNode keeps its object. */
struct PythonNodeView : Node {
  PythonObject *object;
};
#endif

inline const PythonObject *
python_object(Node *node) {
#if TORCH_AT_LEAST(2, 13)
  return reinterpret_cast<const PythonObject *>(node->pyobj_slot()->load_pyobj());
#else
  return static_cast<PythonNodeView *>(node)->object;
#endif
}

} // namespace tapedeck
