/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/torch/graph/saved_variable.h"
#include "engine/torch/graph/creation.h"
#include "engine/torch/graph/grad_fn.h"
#include "engine/torch/graph/gradient_edge.h"

#include "engine/base/alloc.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/autograd_meta.h"
#include "engine/torch/graph/now.h"
#include "engine/torch/graph/pending.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/graph/version.h"
#include "engine/torch/graph/weak_node.h"

struct td_packed_variable {
  td_saved_hooks *hooks; /* (owned reference) */
  void *object;          /* (owned) what pack returned */
  td_node *grad_fn; /* (owned reference) of what was an input: its maker, or its AccumulateGrad */
};

static void
packed_free(td_packed_variable *packed) {
  packed->hooks->free_object(packed->hooks, packed->object);
  td_saved_hooks_unref(packed->hooks);
  td_node_unref(packed->grad_fn);
  free(packed);
}

/* Called with grad mode off; `given` is what the hook gets to see. */
static td_status
call_pack(td_packed_variable *packed, td_tensor *given, td_error *error) {
  uint32_t before = td_tensor_version(given);
  bool grad_mode = td_grad_mode();
  td_grad_mode_set(false);
  td_creation_aside aside = td_creation_set_aside();
  td_status status = packed->hooks->pack(packed->hooks, given, &packed->object, error);
  td_creation_put_back(aside);
  td_grad_mode_set(grad_mode);
  if (status || td_tensor_version(given) == before) return status;
  packed->hooks->free_object(packed->hooks, packed->object);
  return td_error_set(
      error, TD_AUTOGRAD,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
      "hook %s be modified by in-place operations as this can lead to unexpected side-effects. "
      "Please open an issue if you need to perform in-place operations on the input to a pack "
      "hook.",
      td_policy(name_operations) ? "cannot" : "can not");
}

/* Takes the hooks. On failure nothing is saved. */
static td_status
pack(td_saved_variable *saved, td_saved_hooks *hooks, td_tensor *tensor, td_tensor *given,
     td_error *error) {
  td_packed_variable *packed = TD_NEW(td_packed_variable);
  packed->hooks = hooks;
  td_status status = call_pack(packed, given, error);
  if (status) {
    td_saved_hooks_unref(hooks);
    free(packed);
    return status;
  }
  if (!saved->is_output && tensor) packed->grad_fn = td_gradient_edge(tensor).node;
  saved->packed = packed;
  saved->is_packed = true;
  saved->is_original = false;
  return TD_OK;
}

static td_status
save(td_saved_variable *saved, td_tensor *tensor, td_error *error) {
  if (TD_UNLIKELY(tensor->is_inference))
    return td_error_set(
        error, TD_AUTOGRAD, "%s",
        td_policy(name_operations)
            ? "Inference tensors cannot be saved for backward. Please do not use Tensors created "
              "in "
              "inference mode in computation tracked by autograd. To work around this, you can "
              "make "
              "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
              "instead of `torch.inference_mode()`."
            : "Inference tensors cannot be saved for backward. To work around you can make a clone "
              "to get a normal tensor and use it in autograd.");
  saved->version = td_tensor_version(tensor);
  saved->is_leaf = !td_grad_fn_stored(tensor);
  saved->requires_grad = td_requires_grad(tensor);
  saved->output_nr = (uint16_t)td_output_nr(tensor);
  td_saved_hooks *hooks = td_saved_hooks_now();
  if (TD_UNLIKELY(hooks != NULL) && !tensor->is_number) {
    td_refcount_inc(&hooks->refs);
    return pack(saved, hooks, tensor, tensor, error);
  }
  saved->is_original = !saved->is_output || saved->is_leaf;
  saved->data = saved->is_original ? td_tensor_ref(tensor) : td_tensor_detach(tensor);
  return TD_OK;
}

void
td_saved_variable_init(td_saved_variable *saved, td_tensor *tensor, bool is_output) {
  *saved = (td_saved_variable){
      .is_output = is_output, .was_defined = tensor != NULL, .number = saved->number};
  if (!tensor || td_pending()) return; /* the operation has failed already */
  td_error error = {0};
  td_status status = save(saved, tensor, &error);
  if (status) td_pending_set(status, &error);
}

void
td_saved_variable_written(td_saved_variable *saved) {
  td_tensor *tensor = saved->data;
  td_autograd_meta *meta = td_autograd_meta_get(tensor);
  if (!meta->weak) meta->weak = td_weak_tensor_new(tensor);
  saved->written = td_weak_tensor_ref(meta->weak);
  saved->data = td_tensor_detach(tensor);
  saved->is_original = false;
  saved->is_output = true;
  saved->output_nr = 0;
  td_tensor_unref(tensor);
}

td_status
td_saved_variable_refuse_released(td_error *error) {
  return td_error_set(
      error, TD_AUTOGRAD,
      "Trying to backward through the graph a second time (or directly access saved tensors after "
      "they have already been freed). Saved intermediate values of the graph are freed when you "
      "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
      "through the graph a second time or if you need to access saved tensors after calling "
      "backward.");
}

/* As error texts name them: torch.FloatTensor. */
static const char *
hint(void) {
  if (td_anomaly_mode())
    return "the backtrace further above shows the operation that failed to compute its gradient. "
           "The "
           "variable in question was changed in there or anywhere later. Good luck!";
  return td_policy(name_operations)
             ? "enable anomaly detection to find the operation that failed to compute its "
               "gradient, "
               "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
             : "enable anomaly detection to find the operation that failed to compute its "
               "gradient, "
               "with torch.autograd.set_detect_anomaly(True).";
}

static td_status
refuse_version(const td_saved_variable *saved, const td_node *maker, uint32_t found,
               td_error *error) {
  char *shape = td_tensor_shape_text(saved->data);
  char *operation = maker ? td_node_operation_name(maker) : NULL;
  char *which = maker ? td_format(", which is output %u of %s,",
                                  saved->is_original ? 0 : saved->output_nr, operation)
                      : td_dup_string("");
  td_error_set(error, TD_AUTOGRAD,
               "one of the variables needed for gradient computation has been modified by an "
               "inplace operation: [torch.%s %s]%s is at version %u; expected version %u instead. "
               "Hint: %s",
               td_dtype_tensor_name(saved->data->dtype), shape, which, found, saved->version,
               hint());
  free(which);
  free(operation);
  free(shape);
  return TD_AUTOGRAD;
}

/* `saved_for` is the node that a tensor without a maker of its own is taken for an output of. */
static td_status
check_by(const td_saved_variable *saved, const td_node *node, const td_node *on_view,
         const td_node *saved_for, td_error *error) {
  const td_node *maker = saved->is_original ? td_grad_fn(saved->data) : on_view;
  if (!saved->is_leaf && !maker) {
    maker = saved_for;
    if (!maker)
      return td_error_set(
          error, TD_AUTOGRAD, "%s",
          td_policy(name_operations)
              ? "Trying to use a saved tensor that has been detached in-place, i.e. "
                "with .detach_().This is not supported, please use out-of-place "
                "`.detach()` instead"
              : "No grad_fn for non-leaf saved tensor");
  }
  uint32_t found = td_tensor_version(saved->data);
  if (found == saved->version) return TD_OK;
  const td_node *now = td_node_now(); /* a CopySlices, for the function in it */
  if (now) node = now;
  if (!node) return refuse_version(saved, maker, found, error);
  TD_EMIT(version_conflict, .node = td_node_id(node), .graph_task = td_graph_task_now_id(),
          .number = saved->number, .counter = td_tensor_counter_id(saved->data),
          .saved = saved->version, .found = found);
  return refuse_version(saved, maker, found, error);
}

static td_status
check(const td_saved_variable *saved, const td_node *node, const td_node *saved_for,
      td_error *error) {
  td_node *on_view = saved->on_view ? td_weak_node_get(saved->on_view) : NULL;
  td_tensor *written = saved->written ? td_weak_tensor_get(saved->written) : NULL;
  td_status status =
      check_by(saved, node, written ? td_grad_fn(written) : on_view, saved_for, error);
  td_tensor_unref(written);
  td_node_unref(on_view);
  return status;
}

td_status
td_saved_variable_check(const td_saved_variable *saved, const td_node *node, td_error *error) {
  if (!saved->was_defined || saved->is_packed) return TD_OK;
  if (!saved->data) return td_saved_variable_refuse_released(error);
  if (TD_LIKELY(td_tensor_version(saved->data) == saved->version)) return TD_OK;
  return check(saved, node, saved->is_output ? node : NULL, error);
}

static void
set_history(const td_saved_variable *saved, td_node *node, td_tensor *tensor) {
  td_node *on_view = saved->on_view ? td_weak_node_get(saved->on_view) : NULL;
  if (on_view)
    td_set_grad_fn(tensor, on_view, 0);
  else
    td_set_grad_fn(tensor, node, saved->output_nr);
  td_node_unref(on_view);
}

/* What the unpack hook gave back, as a tensor with the history of what was saved. */
static td_status
unpack_hooked(td_saved_variable *saved, td_node *node, td_tensor **out, td_error *error) {
  td_packed_variable *packed = saved->packed;
  td_tensor *given = NULL;
  td_status status = packed->hooks->unpack(packed->hooks, packed->object, &given, error);
  if (status) return status;
  if (!saved->requires_grad && !td_requires_grad(given)) {
    *out = given;
    return TD_OK;
  }
  *out = td_tensor_detach(given);
  td_tensor_unref(given);
  if (saved->is_output)
    set_history(saved, node, *out);
  else if (packed->grad_fn && saved->is_leaf)
    td_variable_set_accumulator(*out, packed->grad_fn);
  else if (packed->grad_fn)
    td_set_grad_fn(*out, packed->grad_fn, saved->output_nr);
  return TD_OK;
}

static td_status
unpack(td_saved_variable *saved, td_node *node, const td_node *saved_for, bool with_history,
       td_tensor **out, td_error *error) {
  *out = NULL;
  if (!saved->was_defined) return TD_OK;
  if (!saved->data) return td_saved_variable_refuse_released(error);
  if (TD_UNLIKELY(saved->is_packed)) return unpack_hooked(saved, node, out, error);
  td_status status = check(saved, node, saved_for, error);
  if (status) return status;
  if (saved->is_original) {
    *out = td_tensor_ref(saved->data);
    return TD_OK;
  }
  *out = td_tensor_detach(saved->data);
  if (with_history && saved->requires_grad) set_history(saved, node, *out);
  return TD_OK;
}

td_status
td_saved_variable_unpack(td_saved_variable *saved, td_node *node, td_tensor **out,
                         td_error *error) {
  return unpack(saved, node, saved->is_output ? node : NULL, td_grad_mode(), out, error);
}

td_status
td_saved_variable_get(td_saved_variable *saved, td_node *node, td_tensor **out, td_error *error) {
  return unpack(saved, node, node, true, out, error);
}

void
td_saved_variable_release(td_saved_variable *saved) {
  td_weak_node_unref(saved->on_view);
  saved->on_view = NULL;
  td_weak_tensor_unref(saved->written);
  saved->written = NULL;
  if (!saved->data) return;
  if (saved->is_packed)
    packed_free(saved->packed);
  else
    td_tensor_unref(saved->data);
  saved->data = NULL;
}

td_status
td_saved_variable_register(td_saved_variable *saved, td_saved_hooks *hooks, td_error *error) {
  const char *refusal = NULL;
  if (saved->is_packed && saved->data)
    refusal = "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
              "only one pair of hooks is allowed at a time.";
  else if (!saved->was_defined)
    refusal = "Calling register_hooks on a saved tensor with value None is forbidden";
  else if (!saved->data)
    refusal =
        "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate "
        "values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved variables after calling backward.";
  if (refusal) {
    td_saved_hooks_unref(hooks);
    return td_error_set(error, TD_AUTOGRAD, "%s", refusal);
  }
  td_tensor *data = saved->data;
  td_tensor *given = saved->is_original ? td_tensor_detach(data) : td_tensor_ref(data);
  td_status status = pack(saved, hooks, saved->is_original ? data : NULL, given, error);
  td_tensor_unref(given);
  if (!status) td_tensor_unref(data);
  return status;
}

void
td_saved_variable_announce(const td_saved_variable *saved, const td_node *node) {
  if (!saved->data || saved->is_packed || td_node_announcements_held()) return;
  char *shape = td_tensor_shape_text(saved->data);
  TD_EMIT_BORROWED(saved_tensor, .node = td_node_id(node), .number = saved->number,
                   .counter = td_tensor_counter_id(saved->data), .version = saved->version,
                   .is_output = saved->is_output,
                   .bytes = (uint32_t)TD_MIN(td_tensor_n_bytes(saved->data), (size_t)UINT32_MAX),
                   .shape = td_intern(shape),
                   .dtype = td_intern_static(td_dtype_short_name(saved->data->dtype)));
  free(shape);
}
