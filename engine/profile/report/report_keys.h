/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the rows of a report are called. Private to engine/profile and ui/page. One thread. */
#pragma once

#include "engine/profile/report/lives.h"
#include "engine/profile/report/report_by.h"

/* td_report_life_key returns the key of a node's life, td_report_span_key that of a hook's call or
 * a wait for a lock. The caller frees it. */
char *td_report_life_key(td_report_by by, const td_catalog *catalog, const td_life *life,
                         uint32_t graph_task);
char *td_report_span_key(const td_catalog *catalog, td_tape *tape, const td_life_span *span);

/* td_report_device_name returns "sim:1", or "" if the tape does not name the device; of the
 * catalog. */
const char *td_report_device_name(const td_catalog *catalog, int32_t device);

/* td_report_stream_name returns "stream 1 of sim:0", or of all streams "all streams of sim:0". The
 * caller frees it. */
char *td_report_stream_name(const td_catalog *catalog, int32_t device, int32_t stream);

/* td_report_thread_name returns "2 second", td_report_queue_name "0 cpu", td_report_node_name
 * "AccumulateGrad(weight)", td_report_gil_name "GIL", or "GIL of rank 1" if there are several
 * processes. The caller frees them. */
char *td_report_thread_name(const td_catalog *catalog, uint32_t thread);
char *td_report_queue_name(const td_catalog *catalog, uint32_t queue);
char *td_report_node_name(const td_catalog *catalog, uint32_t node);
char *td_report_gil_name(const td_catalog *catalog, uint32_t process);

/* td_report_lock_name returns "queue 0 cpu", or as the GIL and nodes are named. Each pass has a
 * lock of its own: they have one name. The caller frees it. */
char *td_report_lock_name(const td_catalog *catalog, uint32_t kind, uint32_t object);

/* td_report_user_line returns the program's line that made a node. A leaf has none: then it is that
 * of the node whose function takes its value. NULL if no line is known. The caller frees it. */
char *td_report_user_line(const td_catalog *catalog, uint32_t node);

/* td_report_module_node returns the node that has the module of a node: itself, or the one whose
 * function takes its value; TD_NONE if no module is known. td_report_user_module returns the label
 * of that module, or NULL. The caller frees it. */
uint32_t td_report_module_node(const td_catalog *catalog, uint32_t node);
char *td_report_user_module(const td_catalog *catalog, uint32_t node);

/* td_report_key_kinds tells which kinds of events a catalog must be made of, if it is only to name
 * rows. */
void td_report_key_kinds(td_report_by by, bool kinds[TD_EVENT_LIMIT]);

/* td_report_is_of_node tells whether the key of a life follows from its node alone. */
bool td_report_is_of_node(td_report_by by);
