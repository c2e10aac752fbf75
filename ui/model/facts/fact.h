/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One row of the inspector: a section, a title and a value. A row may lead to another node. Main
 * thread only. */
#pragma once

#include <gio/gio.h>
#include <stdint.h>

#define TD_TYPE_FACT (td_fact_get_type())
G_DECLARE_FINAL_TYPE(TdFact, td_fact, TD, FACT, GObject)

/* td_fact_new takes the value. The section is constant; title and more (NULL for none) are copied.
 */
TdFact *td_fact_new(const char *section, const char *title, char *value, uint32_t node,
                    const char *more);

/* All borrowed. The node is where the row leads, or TD_NONE. */
const char *td_fact_get_section(TdFact *self);
const char *td_fact_get_title(TdFact *self);
const char *td_fact_get_value(TdFact *self);
uint32_t td_fact_get_node(TdFact *self);

/* td_fact_get_more returns lines to show on demand below the value, or NULL. */
const char *td_fact_get_more(TdFact *self);

/* td_fact_get_all returns a list of TdFact to show on demand below the value, or NULL. The list may
 * be long. td_fact_set_all takes it. */
GListModel *td_fact_get_all(TdFact *self);
void td_fact_set_all(TdFact *self, GListModel *all);
