/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The lanes of a page's timeline, as the window has them: threads, streams and queues with their
 * spans. Private to ui/page. One thread. */
#pragma once

#include "engine/base/json.h"
#include "ui/draw/timeline_picture.h"
#include "ui/page/nodes.h"

/* td_page_lanes_write writes an array of what happened between two times of the tape. Times are ns
 * after `from`. */
void td_page_lanes_write(const td_timeline *timeline, const td_page_nodes *nodes, uint64_t from,
                         uint64_t to, td_json *json);
