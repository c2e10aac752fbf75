/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * `tapedeck import` of dumps of PyTorch's flight recorder, one of each rank, as one tape. A Python
 * reads them (read_flight.py, by td_path_python), because some are pickled. Main thread. */
#pragma once

#include <stdbool.h>

/* The text of read_flight.py. */
extern const char td_flight_script[];

/* td_import_is_dump tells whether a file begins as a dump does: pickled, or JSON of the flight
 * recorder. False if it cannot be read. */
bool td_import_is_dump(const char *path);

/* td_import_dumps returns an exit status, and has printed what went wrong. */
int td_import_dumps(char **paths, int n, const char *tape);
