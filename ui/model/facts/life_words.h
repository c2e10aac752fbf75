/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What people call the parts of a node's life. Any thread. */
#pragma once

#include "engine/profile/report/lives.h"

/* td_life_part_title returns what people call a part, td_life_part_reason why nobody knows it;
 * both translated. */
const char *td_life_part_title(td_life_part part);
const char *td_life_part_reason(td_life_part part);
