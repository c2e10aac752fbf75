/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a screen reader finds in the canvas of a graph: see Note [What the tree has]. The nodes are
 * in the order of the gradients, a page of them at a time. Main thread. */
#pragma once

#include "ui/model/document/fold_choice.h"
#include "ui/widgets/base/canvas.h"

/* The order of a scene, kept until there is another scene. A zeroed one is empty. */
typedef struct td_graph_reading {
  uint32_t *order; /* (owned) */
  guint scene_number;
} td_graph_reading;

void td_graph_reading_fini(td_graph_reading *self);

/* td_graph_reading_tell adds the page that has a node, or the first page. */
void td_graph_reading_tell(td_graph_reading *self, TdCanvas *canvas, const td_graph_scene *scene,
                           guint scene_number, const td_graph_view *view, TdFoldChoice *folds,
                           uint32_t node, GArray *told);
