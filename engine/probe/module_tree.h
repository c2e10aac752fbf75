/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What modules and parameters are called. A *root* is the outermost module that the program has a
 * variable for. A module below a root is called by its path, as named_modules() does. A parameter
 * is called as named_parameters() does. If the program has several roots, their names come first:
 * "D.weight".
 *
 * Note [Names without hooks]
 * Problem: a module, a parameter and their names can change at any time, and each must be right.
 *
 * Constraint: the program must not notice. So no code of Python runs here, because torch.compile
 * would compile it. Parameters get no weak references, because torch.utils.swap_tensors refuses
 * tensors that have some.
 *
 * Trick: each module has a weak reference, which takes the module's names away with it. Each call
 * of an outermost module compares the dicts of all modules below it with the names given so far.
 *
 * All functions want the GIL, unless they say otherwise. Private to the probe. */
#pragma once

#include "engine/probe/module_items.h"

/* td_module_tree_start begins; NULL, or why not (static). */
const char *td_module_tree_start(const td_python *python);

/* td_module_tree_find returns the number of a known module, or TD_NONE. */
uint32_t td_module_tree_find(const void *module);

/* td_module_tree_add names a root and what is below it. `name`: NULL if the root is alone, so that
 * its name stands before none. An equal name of another living root gets a number. */
void td_module_tree_add(const td_python *python, void *root, const char *name);

/* td_module_tree_refresh learns what has changed in a known module and below it. */
void td_module_tree_refresh(const td_python *python, void *module, uint32_t number);

/* td_module_tree_has_other tells whether a root with parameters lives that is not below `root`. */
bool td_module_tree_has_other(const td_python *python, void *root);

/* td_module_tree_name_shards names the parameters that fully_shard keeps for known modules and puts
 * into them while they run. */
void td_module_tree_name_shards(const td_python *python);

/* A known module's name and class, interned. */
typedef struct td_module_name {
  uint32_t name, class_name;
} td_module_name;

td_module_name td_module_tree_name(uint32_t number);
