/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/outline.h"

#include "engine/replay/catalog_collect.h"

#include <glib.h>

struct td_outline {
  td_tape *tape;       /* (owned) */
  td_catalog *catalog; /* (owned) */
};

static void
outline_clear(gpointer data) {
  td_outline *outline = data;
  if (outline->catalog) td_catalog_free(outline->catalog);
  if (outline->tape) td_tape_close(outline->tape);
}

td_outline *
td_outline_ref(td_outline *outline) {
  return g_atomic_rc_box_acquire(outline);
}

void
td_outline_unref(td_outline *outline) {
  g_atomic_rc_box_release_full(outline, outline_clear);
}

td_status
td_outline_new(const char *path, td_outline **outline, td_error *error) {
  td_outline *made = g_atomic_rc_box_new0(td_outline);
  td_status status = td_tape_open(path, &made->tape, error);
  if (!status) {
    td_segment segment = td_tape_outline(made->tape);
    status = td_catalog_collect(made->tape, &segment, &made->catalog, error);
  }
  if (status)
    td_outline_unref(made);
  else
    *outline = made;
  return status;
}

const td_catalog *
td_outline_catalog(const td_outline *outline) {
  return outline->catalog;
}

td_tape *
td_outline_tape(td_outline *outline) {
  return outline->tape;
}

td_status
td_outline_check(const td_outline *outline, const td_tape *tape, td_error *error) {
  const td_tape_info *ours = td_tape_info_get(outline->tape), *theirs = td_tape_info_get(tape);
  bool same = ours->n_events == theirs->n_events && ours->file_bytes == theirs->file_bytes &&
              ours->started_ns == theirs->started_ns &&
              td_tape_n_segments(outline->tape) == td_tape_n_segments(tape);
  return same ? TD_OK : td_error_set(error, TD_IO, "another tape has the name of this one now");
}
