/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a torch.nn.Module has: its modules and its parameters, read from its dicts. Only a
 * module of TorchScript has no dicts: its own code gives them. All functions want the GIL. Private
 * to the probe. */
#pragma once

#include "engine/probe/python.h"

#include <stddef.h>

/* td_module_items_start begins; NULL, or why not (static). */
const char *td_module_items_start(const td_python *python);

/* td_module_is_one tells whether an object is a torch.nn.Module. */
bool td_module_is_one(const td_python *python, void *object);

typedef void (*td_module_visit)(const char *name, void *child, void *data);
typedef void (*td_parameter_visit)(const char *name, const void *impl, void *data);

/* td_module_each_child visits the modules of a module in their order; td_module_each_parameter its
 * own parameters, as at::TensorImpl. Modules of TorchScript have none unless `also_script`. */
void td_module_each_child(const td_python *python, void *module, bool also_script,
                          td_module_visit visit, void *data);
void td_module_each_parameter(const td_python *python, void *module, bool also_script,
                              td_parameter_visit visit, void *data);

/* td_module_count returns how many modules a module has with itself, and whether `wanted` is one of
 * them. It also writes how many parameters they have. */
size_t td_module_count(const td_python *python, void *module, const void *wanted, bool *has_wanted,
                       size_t *n_parameters);
