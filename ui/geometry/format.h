/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Quantities as people read them. One place formats times, sizes and counts, for window and command
 * line alike. Any thread; the caller frees what is returned. */
#pragma once

#include <stdint.h>

/* td_format_ns returns a duration or time with three significant digits: "840 ns", "1.84 ms", "12.3
 * s". */
char *td_format_ns(double ns);

/* td_format_bytes returns a size with binary prefixes: "512 B", "4 KiB", "1.5 MiB". */
char *td_format_bytes(uint64_t bytes);

/* td_format_figure returns the duration, the size if that is 0, or "" if both are. */
char *td_format_figure(uint64_t ns, uint64_t bytes);

/* td_format_count groups thousands with thin spaces: "1 797", "12 345 678". */
char *td_format_count(uint64_t count);

/* td_format_many counts things: "1 node", "1 797 nodes", in the reader's language. */
char *td_format_many(uint64_t count, const char *one, const char *many);

/* td_format_op returns a node's name as a card shows it: "AddmmBackward0" is "Addmm",
 * "MeanBackward1" is "Mean·1", anything else is itself. */
char *td_format_op(const char *name);
