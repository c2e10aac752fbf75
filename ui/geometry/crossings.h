/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many edges cross. Private to ui/geometry; any thread. */
#pragma once

#include "ui/geometry/levels.h"

/* td_level_crossings counts the crossings between a level and the next one. `tree` is scratch for
 * widest + 1 numbers. */
uint64_t td_level_crossings(const td_levels *levels, uint32_t l, uint32_t *tree);
