/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * unpack TAPE OUT: makes a seed. unpack --pack SEED OUT: makes the tape that targets see. */
#include "tests/fuzz/pack.h"

#include <glib.h>
#include <string.h>

int
main(int argc, char **argv) {
  bool packs = argc == 4 && strcmp(argv[1], "--pack") == 0;
  g_autofree char *bytes = NULL;
  gsize n;
  if (argc != (packs ? 4 : 3)) {
    g_printerr("usage: unpack TAPE OUT, or unpack --pack SEED OUT\n");
    return 2;
  }
  td_bytes out = {0};
  bool fine = g_file_get_contents(argv[argc - 2], &bytes, &n, NULL);
  if (fine && packs)
    td_pack((const unsigned char *)bytes, n, &out);
  else if (fine)
    fine = td_unpack((const unsigned char *)bytes, n, &out);
  fine = fine && g_file_set_contents(argv[argc - 1], (char *)out.at, (gssize)out.n, NULL);
  td_bytes_fini(&out);
  if (!fine)
    g_printerr("unpack: %s cannot be read, or %s not written\n", argv[argc - 2], argv[argc - 1]);
  return fine ? 0 : 2;
}
