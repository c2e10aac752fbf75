/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The names of parameters, by at::TensorImpl, and which module gave each. A parameter that two
 * modules share has both names. All functions want the GIL, unless they say otherwise. Private to
 * the probe.
 */
#pragma once

#include "engine/probe/ids.h"
#include "engine/probe/python.h"

#include <stdint.h>

/* td_module_labels_start begins. `modules` (borrowed) has the addresses of the modules that live.
 */
void td_module_labels_start(td_ids *modules);

/* td_module_label_give names a parameter of a module. If another module has named the parameter and
 * still has it, both names stay: "wte.weight = lm_head.weight". */
void td_module_label_give(const td_python *python, void *module, const void *impl,
                          const char *name);

/* td_module_label_take takes the names of a parameter away. It returns the address of the
 * module that gave the first one, or NULL. That module may be gone. */
void *td_module_label_take(const void *impl);

/* td_module_label_find returns the name, interned, or 0. Any thread, without the GIL. */
uint32_t td_module_label_find(const void *impl);
