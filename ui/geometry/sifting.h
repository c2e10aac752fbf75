/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sifting: each vertex of a level walks past all others. It stays where the fewest edges cross.
 * Rudell's method; Matuszewski, Schönfeld and Molitor use it for layers. Private to ui/geometry;
 * one thread. */
#pragma once

#include "ui/geometry/levels.h"

typedef struct td_sifter td_sifter;

/* td_sifter_new keeps the levels (borrowed). NULL may be freed. */
td_sifter *td_sifter_new(td_levels *levels);
void td_sifter_free(td_sifter *sifter);

/* td_sifter_level sifts a level once and returns how many crossings fewer there are. It changes
 * order and position. The time is about the square of the level's width. */
int64_t td_sifter_level(td_sifter *sifter, uint32_t l);
