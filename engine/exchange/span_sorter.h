/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sorts any number of spans by (begin, longest first, order of arrival) in bounded memory. It sorts
 * runs of spans, lays them into a nameless file, and merges them for each reading. Belongs to one
 * thread at a time. */
#pragma once

#include "engine/base/status.h"
#include "engine/exchange/span.h"

#include <stdbool.h>

typedef struct td_span_sorter td_span_sorter;

/* td_span_sorter_new makes one with its file in `folder`. It may be that no file can be made there:
 * that counts once there are more spans than one run has. */
td_span_sorter *td_span_sorter_new(const char *folder);
void td_span_sorter_free(td_span_sorter *sorter);

/* td_span_sorter_add takes a span; `order` is filled in. If its file cannot be written,
 * td_span_sorter_start says so. */
void td_span_sorter_add(td_span_sorter *sorter, const td_span *span);

/* td_span_sorter_start begins reading from the first span; nothing may be added any more. TD_IO. */
td_status td_span_sorter_start(td_span_sorter *sorter, td_error *error);

/* td_span_sorter_next writes the next span; false at the end, or where the file cannot be read,
 * which td_span_sorter_finish tells (TD_IO). */
bool td_span_sorter_next(td_span_sorter *sorter, td_span *span);
td_status td_span_sorter_finish(const td_span_sorter *sorter, td_error *error);
