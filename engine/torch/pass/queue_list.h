/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * All ready queues of the process, by their numbers in events: for a live session, which names
 * queues so. Any thread. Private to engine/torch/pass. */
#pragma once

#include <stdint.h>

struct td_ready_queue;

void td_queue_list_add(struct td_ready_queue *queue, uint32_t id);
void td_queue_list_remove(struct td_ready_queue *queue);

/* td_queue_list_borrow returns the queue of that number, or NULL. In both cases the caller calls
 * td_queue_list_return soon: meanwhile no queue is made or freed. It may take the queue's lock. */
struct td_ready_queue *td_queue_list_borrow(uint32_t id);
void td_queue_list_return(void);
