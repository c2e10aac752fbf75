/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Work in a process of its own, whose memory and numbers of nodes begin anew. */
#pragma once

/* td_bench_apart runs the work in a child of this process, which must have one thread, and returns
 * the text that the work returned (owned). NULL if the child died. */
char *td_bench_apart(char *(*work)(void *data), void *data);

/* td_bench_apart_mb returns the most memory that such a child has had so far, in MB, without what
 * it had from its parent. */
double td_bench_apart_mb(void);
