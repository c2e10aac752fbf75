/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a schema has from the program's tables, so that it cannot fall behind them. */
#pragma once

#include "engine/base/json.h"

#include <stddef.h>

/* td_schema_print_words writes the words of a table as an array: of an enumeration of enums.def, or
 * of `life_part`, `idle_part`, `node_state`, `schedule`, `order_cause`, `align_cause` and
 * `report_by`. A name with `?` behind it has null too. The name `events` stands for what the fields
 * of each kind of event must be: an array for allOf. There must be such a name. */
void td_schema_print_words(td_json *json, const char *name, size_t length);
