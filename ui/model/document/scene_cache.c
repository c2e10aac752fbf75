/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/document/scene_cache.h"

#define MAX_SCENES 12
#define MOST_NODES 300000 /* a node takes 250 bytes */

void
td_scene_cache_init(td_scene_cache *cache) {
  cache->scenes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)td_graph_scene_free);
  g_queue_init(&cache->shown);
  cache->n_nodes = 0;
  cache->most_nodes = MOST_NODES;
}

void
td_scene_cache_fini(td_scene_cache *cache) {
  g_clear_pointer(&cache->scenes, g_hash_table_unref);
  g_queue_clear(&cache->shown);
}

static bool
is_full(td_scene_cache *cache) {
  return g_queue_get_length(&cache->shown) > MAX_SCENES || cache->n_nodes > cache->most_nodes;
}

static void
drop(td_scene_cache *cache, gpointer key) {
  cache->n_nodes -= td_graph_scene_n_nodes(g_hash_table_lookup(cache->scenes, key));
  g_queue_remove(&cache->shown, key);
  g_hash_table_remove(cache->scenes, key);
}

/* Frees the scenes least recently shown, but neither the last one nor that in use. */
static void
make_room(td_scene_cache *cache, uint32_t in_use) {
  while (is_full(cache)) {
    GList *oldest = cache->shown.head;
    if (oldest && oldest->data == GUINT_TO_POINTER(in_use)) oldest = oldest->next;
    if (!oldest || !oldest->next) return;
    drop(cache, oldest->data);
  }
}

void
td_scene_cache_take(td_scene_cache *cache, uint32_t graph_task, td_graph_scene *scene,
                    uint32_t in_use) {
  g_hash_table_insert(cache->scenes, GUINT_TO_POINTER(graph_task), scene);
  g_queue_push_tail(&cache->shown, GUINT_TO_POINTER(graph_task));
  cache->n_nodes += td_graph_scene_n_nodes(scene);
  make_room(cache, in_use);
}

td_graph_scene *
td_scene_cache_find(td_scene_cache *cache, uint32_t graph_task) {
  return g_hash_table_lookup(cache->scenes, GUINT_TO_POINTER(graph_task));
}

void
td_scene_cache_show(td_scene_cache *cache, uint32_t graph_task) {
  gpointer key = GUINT_TO_POINTER(graph_task);
  g_queue_remove(&cache->shown, key);
  g_queue_push_tail(&cache->shown, key);
  make_room(cache, graph_task);
}
