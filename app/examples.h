/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The shipped examples: scripts whose docstring's first line says what they show, and which may say
 * in a comment line "# devices: cpu,sim:2" which devices they are about. Any thread. */
#pragma once

#include <glib.h>

typedef struct td_example {
  char *name;    /* "diamond" (owned) */
  char *path;    /* (owned) */
  char *summary; /* (owned) */
  char *devices; /* (owned), or NULL */
} td_example;

/* td_examples_load returns all examples in the order of their names, a GPtrArray of td_example;
 * NULL and an error where their folder cannot be read. */
GPtrArray *td_examples_load(GError **error);

/* td_example_find returns the example of that name, or NULL. Free it with td_example_free. */
td_example *td_example_find(const char *name);
void td_example_free(td_example *example);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(td_example, td_example_free)
