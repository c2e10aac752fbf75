/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/diff/likeness.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/number_map.h"
#include "engine/profile/op_name.h"

#include <string.h>

/* The hashes of texts by their address: the tape has each text once. */
typedef struct hashes {
  td_number_map known;
  uint64_t (*hash)(const char *text);
} hashes;

static uint64_t
hash_once(hashes *self, const char *text) {
  const uint64_t *known = td_number_map_find(&self->known, (uintptr_t)text);
  if (known) return *known;
  uint64_t hash = self->hash(text);
  *td_number_map_put(&self->known, (uintptr_t)text) = hash;
  return hash;
}

static uint64_t
hash_text(const char *text) {
  return td_hash_bytes(TD_HASH_SEED, text, strlen(text));
}

static uint64_t
hash_dtype(const char *dtype) {
  const char *dot = strrchr(dtype, '.'); /* "torch.float32" on older tapes */
  return hash_text(dot ? dot + 1 : dtype);
}

static uint64_t
hash_shape(const td_catalog *catalog, const td_catalog_node *node, hashes *shapes, hashes *dtypes) {
  uint64_t hash = TD_HASH_SEED;
  for (uint32_t i = 0; i < node->n_metadata; i++) {
    const td_catalog_metadata *metadata = &catalog->metadata[node->first_metadata + i];
    uint64_t words[] = {metadata->input_nr, hash_once(shapes, metadata->shape),
                        hash_once(dtypes, metadata->dtype)};
    hash = td_hash_bytes(hash, words, sizeof words);
  }
  return node->n_metadata ? hash : 0;
}

bool
td_likeness_init(td_likeness *likeness, const td_catalog *catalog) {
  hashes names = {.hash = td_op_name_hash}, shapes = {.hash = hash_text},
         dtypes = {.hash = hash_dtype};
  likeness->operations = td_try_alloc(catalog->n_nodes, sizeof *likeness->operations);
  likeness->shapes = td_try_alloc(catalog->n_nodes, sizeof *likeness->shapes);
  bool made = likeness->operations && likeness->shapes;
  for (uint32_t i = 0; made && i < catalog->n_nodes; i++) {
    const td_catalog_node *node = &catalog->node_rows[i];
    likeness->operations[i] = hash_once(&names, node->name);
    likeness->shapes[i] = hash_shape(catalog, node, &shapes, &dtypes);
  }
  td_number_map_fini(&names.known);
  td_number_map_fini(&shapes.known);
  td_number_map_fini(&dtypes.known);
  return made;
}

void
td_likeness_fini(td_likeness *likeness) {
  free(likeness->operations);
  free(likeness->shapes);
  *likeness = (td_likeness){0};
}
