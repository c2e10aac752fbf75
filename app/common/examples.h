/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The shipped examples are scripts. The first line of the docstring says what an example shows.
 * Comment lines may say what it needs: "# devices: cpu,sim:2" and "# anomaly: nonfinite" are
 * options of `run`. Any thread. */
#pragma once

#include <glib.h>

typedef struct td_example {
  char *name;    /* "diamond" (owned) */
  char *path;    /* (owned) */
  char *summary; /* (owned) */
  char *devices; /* (owned), or NULL */
  char *anomaly; /* (owned), or NULL */
} td_example;

/* td_examples_load returns all examples in the order of their names, a GPtrArray of td_example.
 * If it cannot read their folder, it returns NULL and sets an error. */
GPtrArray *td_examples_load(GError **error);

/* td_example_find returns the example of that name, or NULL. Free it with td_example_free. */
td_example *td_example_find(const char *name);
void td_example_free(td_example *example);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(td_example, td_example_free)
