/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers for addresses: an open-addressed table from pointers to the ids that stand for them on
 * the tape. Any thread; finding takes no lock. A found id is right for an address that the caller
 * keeps alive and whose number was set before it came to know of it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_ids td_ids;

#define TD_IDS_API __attribute__((visibility("default")))

/* td_ids_new makes a table for the life of the process. */
TD_IDS_API td_ids *td_ids_new(void);

/* td_ids_find returns the id of an address, or TD_NONE. */
TD_IDS_API uint32_t td_ids_find(td_ids *ids, const void *address);

/* td_ids_set gives an address its id; TD_NONE takes it away. Returns the id that it had. */
TD_IDS_API uint32_t td_ids_set(td_ids *ids, const void *address, uint32_t id);

/* td_ids_n_alive returns how many addresses have an id. */
TD_IDS_API uint32_t td_ids_n_alive(const td_ids *ids);

/* td_ids_clear forgets all addresses. Others may be using the table. */
TD_IDS_API void td_ids_clear(td_ids *ids);

#ifdef __cplusplus
}
#endif
