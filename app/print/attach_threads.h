/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads for people. Main thread. */
#pragma once

#include "app/session/attach/threads.h"

/* td_attach_print prints what each thread waits for or does, and its lines in Python. A thread
 * without lines has its functions in C. Threads that wait for work in a pool are only counted. */
void td_attach_print(const td_attach_threads *threads);
