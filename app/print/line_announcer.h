/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is announced, as lines on standard error. Any thread. */
#pragma once

#include "app/common/announcer.h"

/* td_line_announcer_get returns the announcer that prints. On a terminal a count of seconds follows
 * the line of a long work, until that is over. Static. */
const td_announcer *td_line_announcer_get(void);
