/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the running functions of the program call their values. A variable is a local or a global
 * of a frame, or an attribute of `self`. Elements of a list, a tuple or a dict count too. All
 * functions want the GIL. They run no Python code, and the program cannot notice them: a frame's
 * f_locals would keep tensors alive, so they do not use it. Locals need Python 3.11. */
#pragma once

#include "engine/probe/python.h"

#include <stddef.h>

typedef struct td_variable {
  const struct td_variable *of; /* the list or object that has it; NULL: it is a plain variable */
  const char *name;             /* of a variable, an attribute or a key; NULL: an element */
  td_python_size index;         /* of an element */
  void *value;                  /* (borrowed) */
} td_variable;

/* What a walk calls for each variable; false ends the walk. */
typedef bool (*td_variable_visit)(const td_variable *variable, void *data);

/* td_variables_each visits the variables of one frame: locals, then globals, in the order in which
 * the program made them. With only_locals, no globals. False if a visit ended the walk. */
bool td_variables_each(const td_python *python, void *frame, bool only_locals,
                       td_variable_visit visit, void *data);

/* td_variables_is_foreign tells whether a frame is one of PyTorch's, of Tapedeck's, or of Python's
 * own machinery. */
bool td_variables_is_foreign(const td_python *python, void *frame);

/* td_variables_outer returns the frame that called `frame`, or NULL. *held has the reference of
 * frames but the first: NULL before, and released by the caller at the end. */
void *td_variables_outer(const td_python *python, void *frame, void **held);

/* td_variables_local returns a local of a frame by its name, or NULL. Borrowed from the frame. */
void *td_variables_local(const td_python *python, void *frame, const char *name);

/* td_variable_text returns what the program would write: "w", "layers[0]", "Net.w" for an attribute
 * of `self`. The caller frees. */
char *td_variable_text(const td_python *python, const td_variable *variable);
