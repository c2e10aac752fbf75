/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/replay/catalog_visit.h"

#include "engine/base/alloc.h"
#include "engine/replay/catalog_collect.h"

td_status
td_catalog_visit(td_tape *tape, uint64_t first, uint64_t end, td_catalog_visitor visit, void *data,
                 td_error *error) {
  td_status status;
  do {
    td_catalog *catalog = NULL;
    td_segment segment = td_tape_segment_at(tape, first);
    status = td_catalog_collect(tape, &segment, &catalog, error);
    if (status == TD_DAMAGED && td_tape_n_segments(tape)) {
      td_error_clear(error);
      segment.end = end;
      status = td_catalog_collect_whole(tape, &catalog, error);
    }
    if (!status) status = visit(catalog, first, TD_MIN(segment.end, end), data, error);
    td_catalog_free(catalog);
    first = segment.end;
  } while (!status && first < end);
  return status;
}
