/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Deadly signals: a program that crashes or is told to go leaves a whole tape. Only what would end
 * the process anyway is handled, and it ends as it would have, by the same signal; handlers of the
 * program's own are left alone, and take the place of these whenever it sets them. */
#pragma once

#include "engine/trace/recorder.h"

/* td_deadly_watch has the recorder finished when a deadly signal comes. td_deadly_forget before the
 * recorder is stopped or abandoned. One recorder at a time. */
void td_deadly_watch(td_recorder *recorder);
void td_deadly_forget(void);
