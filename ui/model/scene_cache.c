/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ui/model/scene_cache.h"

#define MAX_SCENES 12

void
td_scene_cache_init(td_scene_cache *cache) {
  cache->scenes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)td_graph_scene_free);
  g_queue_init(&cache->shown);
}

void
td_scene_cache_fini(td_scene_cache *cache) {
  g_clear_pointer(&cache->scenes, g_hash_table_unref);
  g_queue_clear(&cache->shown);
}

void
td_scene_cache_take(td_scene_cache *cache, uint32_t graph_task, td_graph_scene *scene,
                    uint32_t in_use) {
  g_hash_table_insert(cache->scenes, GUINT_TO_POINTER(graph_task), scene);
  g_queue_push_tail(&cache->shown, GUINT_TO_POINTER(graph_task));
  if (g_queue_get_length(&cache->shown) <= MAX_SCENES) return;
  gpointer oldest = g_queue_peek_head(&cache->shown);
  if (oldest == GUINT_TO_POINTER(in_use)) return;
  g_queue_pop_head(&cache->shown);
  g_hash_table_remove(cache->scenes, oldest);
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
}
