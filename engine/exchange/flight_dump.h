/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A tape of dumps of PyTorch's flight recorder, one of each rank. A dump has the latest operations
 * that a rank handed to its process groups, with their numbers, and no backward pass.
 *
 * Note [Dumps]
 * A dump does not say when it was made. So nothing follows from how long an operation lasts. A rank
 * that lacks an operation did not come to it, or its dump is older than those of the others. If the
 * operation ended on any rank, all ranks had come to it: then the dump is older, and the group is
 * cut after the last operation that all its dumps have. Clocks of several machines are not
 * compared, but for a file that is left from another run: two ranks cannot hand an operation
 * further apart than its timeout.
 *
 * Sends and receives are left out: a dump has too few of them to count messages. A dump forgets the
 * oldest operations. Groups may begin with any number.
 *
 * Belongs to one thread at a time. */
#pragma once

#include "engine/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct td_flight_dump td_flight_dump;

typedef struct td_flight_report {
  uint32_t n_dumps, n_groups;
  uint64_t n_operations;
  uint64_t n_cut; /* operations that were left out, because the dumps are of different moments */
} td_flight_report;

td_flight_dump *td_flight_dump_new(void);
void td_flight_dump_free(td_flight_dump *self);

/* td_flight_dump_take takes the next row of app/commands/read_flight.py, which it changes. False if
 * it is none. */
bool td_flight_dump_take(td_flight_dump *self, char *row);

/* td_flight_dump_write writes the tape; `source` is what the dumps are called. TD_INVALID where
 * there is no operation, or two dumps are of one rank or not of one run; TD_IO. */
td_status td_flight_dump_write(td_flight_dump *self, const char *path, bool overwrite,
                               const char *source, td_flight_report *report, td_error *error);
