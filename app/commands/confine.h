/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A command that only reads a tape gives up what it does not need. If a tape should ever take such
 * a command over, it cannot write or remove files, start programs, or reach other processes or the
 * network. */
#pragma once

#include <stdbool.h>

/* td_confine_to_reading gives these rights up for good. Files that are open stay so, and reading
 * goes on. Call it before the first thread starts. seccomp refuses the calls, and Landlock the
 * files. If the kernel has neither, nothing changes. The address sanitizer needs these rights, so
 * nothing changes under it either. Main thread. */
void td_confine_to_reading(void);

/* td_confine_to_filling is the same for a process that fills files which it has opened before: they
 * may get another length, and locks. */
void td_confine_to_filling(void);

/* td_confine_files is the part of both that Landlock does: no file can be opened for writing, made,
 * removed or started. Returns false if the kernel has no Landlock. */
bool td_confine_files(void);
