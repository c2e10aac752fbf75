/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A command that only reads a tape gives up what it does not need. If a tape should ever take such
 * a command over, it cannot write or remove files, start programs, or reach other processes or the
 * network. */
#pragma once

/* td_confine_to_reading gives these rights up for good. Files that are open stay so, and reading
 * goes on. Call it before the first thread starts. Without seccomp in the kernel, nothing changes.
 * The address sanitizer needs these rights, so nothing changes under it either. Main thread. */
void td_confine_to_reading(void);
