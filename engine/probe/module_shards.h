/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What torch.distributed.fsdp.fully_shard keeps of a module. The module has a shard of each
 * parameter. While it runs it has another tensor instead, whole, and the graph leads to that one.
 * PyTorch keeps both in a list that a hook of the module leads to. All functions want the GIL.
 * Private to the probe. */
#pragma once

#include "engine/probe/python.h"

typedef void (*td_shard_visit)(void *module, const char *name, const void *impl, void *data);

/* td_module_shards_each visits the whole parameters that the hooks of a module gather: of the
 * module itself, and of modules below it. `impl` is an at::TensorImpl. */
void td_module_shards_each(const td_python *python, void *module, td_shard_visit visit, void *data);
