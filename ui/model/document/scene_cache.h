/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scenes by graph task, the most recently shown ones. A reader who steps to and fro between
 * backward passes does not wait for the same layout again. Main thread. */
#pragma once

#include "ui/draw/graph_scene.h"

#include <glib.h>

typedef struct td_scene_cache {
  GHashTable *scenes; /* (owned) graph task -> td_graph_scene (owned) */
  GQueue shown;       /* graph tasks with a scene, least recently shown first */
  uint32_t n_nodes;   /* of all scenes */
  uint32_t most_nodes;
} td_scene_cache;

void td_scene_cache_init(td_scene_cache *cache);
void td_scene_cache_fini(td_scene_cache *cache);

/* td_scene_cache_take owns a scene from now on. If the cache is full it frees the scenes least
 * recently shown, but not that of `in_use`. */
void td_scene_cache_take(td_scene_cache *cache, uint32_t graph_task, td_graph_scene *scene,
                         uint32_t in_use);

/* td_scene_cache_find returns a scene (borrowed) or NULL. */
td_graph_scene *td_scene_cache_find(td_scene_cache *cache, uint32_t graph_task);

/* td_scene_cache_show makes a scene of the cache the most recently shown one. It may free the scene
 * shown before. */
void td_scene_cache_show(td_scene_cache *cache, uint32_t graph_task);
