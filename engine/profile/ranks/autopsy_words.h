/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an autopsy found, in the reader's language. */
#pragma once

#include "engine/profile/ranks/autopsy.h"

/* How processes and nodes are called. The results are freed. */
typedef struct td_autopsy_names {
  char *(*process)(void *data, uint32_t process);             /* "rank 1" */
  char *(*node)(void *data, uint32_t process, uint32_t node); /* or NULL */
  void *data;
} td_autopsy_names;

/* td_autopsy_text says where the ranks part, and what the one that did not come did last. The
 * caller frees. td_autopsy_advice says what that means. The string is constant. */
char *td_autopsy_text(const td_autopsy *self, const td_parting *parting,
                      const td_autopsy_names *names);
const char *td_autopsy_advice(const td_parting *parting);

/* td_autopsy_place returns the line of the program that handed an operation, or NULL. The caller
 * frees. */
char *td_autopsy_place(const td_handed *handed);
