/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/page/changes.h"

#include <stdlib.h>

void
td_page_changes_fini(td_page_changes *changes) {
  free(changes->events);
  free(changes->words);
  free(changes->has_thread);
  free(changes->has_queue);
}
