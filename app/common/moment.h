/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A moment of a tape as the command line names it. --at takes a number, nan, inf, error or end;
 * --pass takes a graph task. Without an option Tapedeck chooses a moment. Main thread. */
#pragma once

#include "engine/replay/catalog.h"

#include <glib.h>

/* The options as they were typed. Initialise with TD_MOMENT_OPTIONS; td_moment_options_fini frees
 * them. */
typedef struct td_moment_options {
  char *at;    /* (owned) or NULL */
  gint64 pass; /* or TD_MOMENT_NO_PASS */
} td_moment_options;
#define TD_MOMENT_NO_PASS G_MININT64
#define TD_MOMENT_OPTIONS                                                                          \
  (td_moment_options) {                                                                            \
    .pass = TD_MOMENT_NO_PASS                                                                      \
  }
void td_moment_options_fini(td_moment_options *options);

/* The two entries of a table of options. `otherwise` is the moment without them, in words. */
#define TD_MOMENT_ENTRIES(options, otherwise)                                                      \
  {"at",                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   G_OPTION_ARG_STRING,                                                                            \
   &(options).at,                                                                                  \
   "The moment after this event: its number, or the first nan, inf or error, or end "              \
   "(default: " otherwise ")",                                                                     \
   "WHEN"},                                                                                        \
  {                                                                                                \
    "pass", 0, 0, G_OPTION_ARG_INT64, &(options).pass, "A moment in the middle of graph task N",   \
        "N"                                                                                        \
  }

/* TD_MOMENT_MIDDLE is the default of td_moment_find. */
#define TD_MOMENT_MIDDLE "in the middle of the largest pass"

/* td_moment_options_given tells whether there is an option at all. td_moment_options_check returns
 * false and prints why if the options are no moment of any tape. */
bool td_moment_options_given(const td_moment_options *options);
bool td_moment_options_check(const char *command, const td_moment_options *options);

/* td_moment_pass_read reads a --pass that is no moment: TD_MOMENT_NO_PASS becomes TD_NONE. It
 * returns false and prints why if no tape can have that graph task. */
bool td_moment_pass_read(const char *command, gint64 pass, uint32_t *graph_task);

/* td_moment_find writes the event that the options name on a tape. The catalog is of the whole tape
 * or of its outline. If the tape does not have it,
 * the function prints why and returns false. *how says in words which moment it is, "in the middle
 * of graph task 0", or is NULL if the options gave the number. The caller frees it. */
bool td_moment_find(td_tape *tape, const td_catalog *catalog, const td_moment_options *options,
                    uint64_t *seq, char **how);

/* td_moment_largest_pass returns the pass in which most nodes ran: of equal ones the last, or the
 * first. But much happens in the tape's first pass for the first time: another one that is as large
 * is taken instead. TD_NONE if there is no pass. In an outline it is the one with most events. */
uint32_t td_moment_largest_pass(const td_catalog *catalog, bool is_last);
