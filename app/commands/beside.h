/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck run --beside PYTHON`: one script on two engines, first on Tapedeck's, then on the real
 * PyTorch of a Python. Then it tells where they part: in what the script prints, and with `tapedeck
 * diff` in the order of nodes and in gradients. Main thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Texts are borrowed. */
typedef struct td_beside {
  const char *python; /* the interpreter that has PyTorch */
  const char *script;
  const char *tape; /* of Tapedeck's engine; the other one's name is made of it */
  const char *seed, *stats, *anomaly;
  const char *semantics; /* NULL: those next to the version of that PyTorch */
  const char *devices;   /* of Tapedeck's engine, or NULL */
} td_beside;

/* td_beside_run returns TD_EXIT_OK if both sides did the same up to rounding, and TD_EXIT_BAD if
 * they part. If it could not compare them, it returns TD_EXIT_USAGE or TD_EXIT_FAILED. It
 * overwrites the second tape only with `force`. */
int td_beside_run(const td_beside *beside, bool force, char **script_arguments);
