/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * make_tape NODES THREADS PASSES SEED OUT [train|hooked]: writes a tape of a random graph. About 9
 * events per node and pass. With `train` each pass has a graph of its own; with `hooked` the tape
 * says that queues were reconstructed. */
#include "tests/tape_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv) {
  if (argc < 6 || argc > 7 ||
      (argc == 7 && strcmp(argv[6], "train") && strcmp(argv[6], "hooked"))) {
    fputs("usage: make_tape NODES THREADS PASSES SEED OUT [train|hooked]\n", stderr);
    return 2;
  }
  td_tape_plan plan = {.n_nodes = (uint32_t)strtoul(argv[1], NULL, 10),
                       .n_threads = (uint32_t)strtoul(argv[2], NULL, 10),
                       .n_passes = (uint32_t)strtoul(argv[3], NULL, 10),
                       .seed = strtoull(argv[4], NULL, 10),
                       .n_anomalies = 1,
                       .trains = argc == 7 && strcmp(argv[6], "train") == 0,
                       .hooked = argc == 7 && strcmp(argv[6], "hooked") == 0};
  if (plan.n_nodes < 2 || plan.n_threads < 1) {
    fputs("make_tape: at least two nodes and one thread\n", stderr);
    return 2;
  }
  td_error error = {0};
  if (td_tape_make(&plan, argv[5], &error) == TD_OK) return 0;
  fprintf(stderr, "make_tape: %s: %s\n", argv[5], td_error_text(&error));
  td_error_clear(&error);
  return 2;
}
