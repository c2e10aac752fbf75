/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deadly signals: a program that crashes or is terminated leaves a whole tape. The probe handles
 * only signals that would end the process anyway. The process then ends by the same signal. The
 * program's own handlers stay, and take the place of the probe's if the program sets them later. */
#pragma once

#include "engine/trace/recorder.h"

/* td_deadly_watch has the recorder finished when a deadly signal comes. One recorder at a time. */
void td_deadly_watch(td_recorder *recorder);

/* td_deadly_begin_end: the calling thread is going to stop the recorder. False if another thread
 * ends the tape because of a signal; the process ends soon. Else td_deadly_end follows, with the
 * recorder stopped. If a signal came in between, td_deadly_end raises it. */
bool td_deadly_begin_end(void);
void td_deadly_end(void);

/* td_deadly_forget is for the child of a fork: the recorder is its parent's. */
void td_deadly_forget(void);

/* td_deadly_arm_thread gives the calling thread a stack for the handler, if it has none. Without
 * it, an overflow of the thread's own stack ends the process at once. It stays until the thread
 * ends. */
void td_deadly_arm_thread(void);
