/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The functions of the process for `tapedeck run` and `record`: devices, checks, recording; and
 * marks on the tape. */
#include "engine/base/alloc.h"
#include "engine/events/core_waits.h"
#include "engine/torch/binding/arguments.h"
#include "engine/torch/binding/errors.h"
#include "engine/torch/binding/live.h"
#include "engine/torch/binding/module.h"
#include "engine/torch/binding/schedule.h"
#include "engine/torch/binding/tensor_object.h"
#include "engine/torch/binding/threads.h"

#include "engine/torch/device/device.h"
#include "engine/torch/graph/anomaly.h"
#include "engine/torch/graph/cut_history.h"
#include "engine/torch/graph/semantics.h"
#include "engine/torch/graph/variable.h"
#include "engine/torch/pass/graph_task_handle.h"
#include "engine/torch/pass/schedule.h"
#include "engine/torch/pass/statistics.h"
#include "engine/torch/pass/variants/scheduler_2017.h"
#include "engine/trace/keep_limit.h"
#include "engine/trace/recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static td_recorder *recorder; /* (owned) the process's, or NULL */
static uint32_t n_steps;

static PyObject *
set_devices(PyObject *self, PyObject *specification) {
  const char *text = PyUnicode_AsUTF8(specification);
  td_error error = {0};
  return text ? tdpy_none(td_device_setup(text, &error), &error) : NULL;
}

/* The index of a word among three. If it is none of them, -1 with an exception. */
static int
find_word(const char *what, const char *const words[3], const char *word) {
  for (int i = 0; i < 3; i++)
    if (strcmp(word, words[i]) == 0) return i;
  PyErr_Format(PyExc_ValueError, "%s is %s, %s or %s, not '%s'", what, words[0], words[1], words[2],
               word);
  return -1;
}

/* set_checks(anomaly, stats) */
static PyObject *
set_checks(PyObject *self, PyObject *args) {
  static const char *const anomalies[] = {
      [TD_ANOMALY_OFF] = "off", [TD_ANOMALY_NAN] = "nan", [TD_ANOMALY_NONFINITE] = "nonfinite"};
  static const char *const statistics[] = {
      [TD_STATS_OFF] = "off", [TD_STATS_FINITE] = "finite", [TD_STATS_FULL] = "full"};
  const char *anomaly, *stats;
  if (!PyArg_ParseTuple(args, "ss:set_checks", &anomaly, &stats)) return NULL;
  int anomaly_mode = find_word("anomaly", anomalies, anomaly);
  int stats_mode = anomaly_mode < 0 ? -1 : find_word("stats", statistics, stats);
  if (stats_mode < 0) return NULL;
  td_anomaly_search_set((td_anomaly_search)anomaly_mode);
  td_statistics_set_mode((td_stats_mode)stats_mode);
  Py_RETURN_NONE;
}

static PyObject *
set_semantics(PyObject *self, PyObject *version) {
  const char *text = PyUnicode_AsUTF8(version);
  td_error error = {0};
  return text ? tdpy_none(td_semantics_set(text, &error), &error) : NULL;
}

static PyObject *
set_scheduler(PyObject *self, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  td_error error = {0};
  return text ? tdpy_none(td_scheduler_set(text, &error), &error) : NULL;
}

/* set_schedule(path): the passes make the choices of that tape again. */
static PyObject *
set_schedule(PyObject *self, PyObject *path) {
  PyObject *bytes;
  td_error error = {0};
  if (!PyUnicode_FSConverter(path, &bytes)) return NULL;
  td_status status = tdpy_schedule_follow(PyBytes_AS_STRING(bytes), &error);
  Py_DECREF(bytes);
  return tdpy_none(status, &error);
}

/* Appends one use as (node, output_nr, consumer, uses). Drops the list if there is no memory. */
static void
append_use(td_node *node, uint32_t output_nr, td_node *consumer, uint32_t uses, void *data) {
  PyObject **list = data;
  PyObject *item =
      *list ? Py_BuildValue("sIsI", td_node_name(node), output_nr, td_node_name(consumer), uses)
            : NULL;
  if (item && PyList_Append(*list, item) == 0) {
    Py_DECREF(item);
    return;
  }
  Py_XDECREF(item);
  Py_CLEAR(*list);
}

static PyObject *
dependencies_2017(PyObject *self, PyObject *unused) {
  PyObject *list = PyList_New(0);
  td_scheduler_2017_each(td_graph_task_now(), append_use, &list);
  return list;
}

/* record_begin(path, overwrite, source, drop) */
/* What is on the tape, if it happens. */
static void
tell_watched(void) {
  td_device_tell();
  td_core_tell();
  TD_EMIT(setting, .name = td_intern("sums"), .value = td_intern("watched"));
}

static PyObject *
record_begin(PyObject *self, PyObject *args) {
  PyObject *path, *source;
  int overwrite, drop;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "O&pO&p:record_begin", PyUnicode_FSConverter, &path, &overwrite,
                        PyUnicode_FSConverter, &source, &drop))
    return NULL;
  td_recorder_options options = {.engine = "tapedeck",
                                 .version = TD_VERSION,
                                 .source = PyBytes_AS_STRING(source),
                                 .policy = drop ? TD_RING_DROP : TD_RING_BLOCK};
  td_status status =
      recorder ? td_error_set(&error, TD_INVALID, "this process is being recorded already")
               : td_recorder_start(PyBytes_AS_STRING(path), overwrite, &options, &recorder, &error);
  Py_DECREF(path);
  Py_DECREF(source);
  if (!status) {
    td_cuts_begin();
    tdpy_threads_watch_gil();
    tell_watched();
    td_anomaly_search_tell();
    td_emit_name_thread("main", TD_CPU);
    TD_EMIT(setting, .name = td_intern("semantics"), .value = td_intern(td_semantics_get()));
    TD_EMIT(setting, .name = td_intern("scheduler"), .value = td_intern(td_scheduler_get()));
  }
  return tdpy_none(status, &error);
}

/* set_checks from the hub's words. */
static PyObject *
set_checks_of(const td_line *reply) {
  const char *anomaly = td_line_find(reply, "anomaly"), *stats = td_line_find(reply, "stats");
  PyObject *args = Py_BuildValue("ss", anomaly ? anomaly : "off", stats ? stats : "off");
  PyObject *result = args ? set_checks(NULL, args) : NULL;
  Py_XDECREF(args);
  return result;
}

static td_status
record_as_asked(const td_line *reply, const char *program, td_error *error) {
  const char *tape = td_line_find(reply, "tape"), *policy = td_line_find(reply, "policy");
  td_recorder_options options = {.engine = "tapedeck",
                                 .version = TD_VERSION,
                                 .source = program,
                                 .policy = policy && strcmp(policy, "drop") == 0 ? TD_RING_DROP
                                                                                 : TD_RING_BLOCK,
                                 .keep = td_line_find(reply, "keep")};
  if (!tape) return td_error_set(error, TD_IO, "the session named no tape");
  td_status status = td_recorder_start(tape, false, &options, &recorder, error);
  if (status) return status;
  td_cuts_begin();
  tdpy_threads_watch_gil();
  tell_watched();
  td_anomaly_search_tell();
  tdpy_live_may_keep();
  TD_EMIT(process_new, .pid = (uint32_t)getpid(), .rank = -1, .name = td_intern(program));
  td_emit_name_thread("main", TD_CPU);
  return tdpy_live_open(reply, tape, recorder, error);
}

/* record_for_session(path, program): joins the session of `tapedeck record` and records as the
 * hub says. Returns True if it records. */
static PyObject *
record_for_session(PyObject *self, PyObject *args) {
  const char *path, *program;
  td_error error = {0};
  td_line reply;
  if (!PyArg_ParseTuple(args, "ss:record_for_session", &path, &program)) return NULL;
  if (recorder) Py_RETURN_FALSE;
  if (tdpy_live_hello(path, program, &reply, &error)) return tdpy_none(error.status, &error);
  bool wanted = td_line_is(&reply, "record");
  PyObject *done = wanted ? set_checks_of(&reply) : Py_NewRef(Py_None);
  if (done && wanted) {
    Py_DECREF(done);
    done = tdpy_none(record_as_asked(&reply, program, &error), &error);
  }
  td_line_fini(&reply);
  Py_XDECREF(done);
  return done ? PyBool_FromLong(wanted) : NULL;
}

static td_status
keep_end(const char *limit, const char *format, td_error *error) {
  td_recorder *keeping = recorder;
  char *words = td_format(format, limit);
  td_status status = keeping ? tdpy_live_keep(keeping, limit, words, error) : TD_OK;
  free(words);
  return status;
}

/* join_session(path, program, tape): lets the session's hub control the recorded program. The names
 * of files are bytes, so that they need not be UTF-8. */
static PyObject *
join_session(PyObject *self, PyObject *args) {
  const char *path, *program, *tape;
  td_error error = {0};
  if (!PyArg_ParseTuple(args, "syy:join_session", &path, &program, &tape)) return NULL;
  td_line reply;
  td_status status = recorder
                         ? tdpy_live_hello(path, program, &reply, &error)
                         : td_error_set(&error, TD_INVALID, "this process is not being recorded");
  if (status) return tdpy_none(status, &error);
  const char *limit = td_line_find(&reply, "limit");
  status = tdpy_live_open(&reply, tape, recorder, &error);
  if (limit) tdpy_live_may_keep();
  if (!status && limit) status = keep_end(limit, "--keep %s", &error);
  td_line_fini(&reply);
  return tdpy_none(status, &error);
}

static td_status
end(td_recorder *ending, int code, td_error *error) {
  tdpy_live_release();
  td_schedule_end();
  td_device_flush();
  td_status status = ending ? td_recorder_stop(ending, code, error) : TD_OK;
  tdpy_live_close(code);
  return status;
}

/* The recorder's thread may have to empty rings of threads that wait for the GIL. So this
 * releases the GIL. */
static PyObject *
record_end(PyObject *self, PyObject *exit_status) {
  long code = PyLong_AsLong(exit_status);
  td_error error = {0};
  td_status status = TD_OK;
  td_recorder *ending = recorder;
  if (code == -1 && PyErr_Occurred()) return NULL;
  recorder = NULL;
  Py_BEGIN_ALLOW_THREADS status = end(ending, (int)code, &error);
  Py_END_ALLOW_THREADS return tdpy_none(status, &error);
}

/* For the child of a fork: the tape belongs to the parent. */
static PyObject *
record_abandon(PyObject *self, PyObject *unused) {
  tdpy_live_abandon();
  if (recorder) td_recorder_abandon(recorder);
  recorder = NULL;
  Py_RETURN_NONE;
}

/* A function of the library that `tapedeck record` preloads; NULL without it. It annotates the tape
 * of the PyTorch that runs beside this module. */
static void *
find_in_probe(const char *name) {
  return dlsym(RTLD_DEFAULT, name);
}

static PyObject *
mark(PyObject *self, PyObject *text) {
  if (!PyUnicode_Check(text))
    return PyErr_Format(PyExc_TypeError, "mark() takes a str, not %s", Py_TYPE(text)->tp_name);
  Py_ssize_t length;
  const char *words = PyUnicode_AsUTF8AndSize(text, &length);
  if (!words) return NULL;
  if (strlen(words) != (size_t)length)
    return PyErr_Format(PyExc_ValueError, "mark(): embedded null character");
  TD_EMIT(mark, .text = td_intern(words));
  void (*probe_mark)(const char *) = (void (*)(const char *))find_in_probe("tapedeck_mark");
  if (probe_mark) probe_mark(words);
  Py_RETURN_NONE;
}

static PyObject *
step(PyObject *self, PyObject *unused) {
  TD_EMIT(step, .iteration = n_steps);
  n_steps++;
  void (*probe_step)(void) = (void (*)(void))find_in_probe("tapedeck_step");
  if (probe_step) probe_step();
  Py_RETURN_NONE;
}

static PyObject *
dump(PyObject *self, PyObject *unused) {
  td_recorder *flushed = recorder;
  Py_BEGIN_ALLOW_THREADS if (flushed) td_recorder_flush(flushed);
  tdpy_live_ask_for_dump();
  void (*probe_dump)(void) = (void (*)(void))find_in_probe("tapedeck_dump");
  if (probe_dump) probe_dump();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static td_status
keep_from_now(const char *limit, td_error *error) {
  td_status status = keep_end(limit, "keep(\"%s\")", error);
  int (*probe_keep)(const char *) = (int (*)(const char *))find_in_probe("tapedeck_keep");
  if (!status && probe_keep && probe_keep(limit))
    status = td_error_set(error, TD_IO, "what PyTorch records cannot be let go");
  return status;
}

static PyObject *
keep(PyObject *self, PyObject *text) {
  td_keep_limit limit;
  td_error error = {0};
  td_status status;
  const char *words;
  if (!PyArg_Parse(text, "s:keep", &words)) return NULL;
  const char *trouble = td_keep_limit_read(words, &limit);
  if (trouble) return PyErr_Format(PyExc_ValueError, "keep('%s'): %s", words, trouble);
  Py_BEGIN_ALLOW_THREADS status = keep_from_now(words, &error);
  Py_END_ALLOW_THREADS return tdpy_none(status, &error);
}

static PyObject *
set_name(PyObject *self, PyObject *args) {
  td_tensor *tensor;
  const char *name;
  if (!PyArg_ParseTuple(args, "O&s:set_name", tdpy_tensor_converter, &tensor, &name)) return NULL;
  td_tensor_set_name(tensor, name);
  Py_RETURN_NONE;
}

/* Of parameters without a name, the optimizer's number tells. */
static PyObject *
no_gradient(PyObject *self, PyObject *args) {
  td_tensor *tensor;
  unsigned number;
  if (!PyArg_ParseTuple(args, "O&I:no_gradient", tdpy_tensor_converter, &tensor, &number))
    return NULL;
  char *name = td_tensor_dup_name(tensor);
  if (!name) name = td_format("parameter %u", number);
  td_cut cut = td_cut_of(tensor);
  TD_EMIT(no_gradient, .name = td_intern(name), .cut = cut.kind, .stack = cut.stack);
  free(name);
  Py_RETURN_NONE;
}

static PyObject *
has_run_backward(PyObject *self, PyObject *unused) {
  return PyBool_FromLong(td_graph_task_handle_any_made());
}

static PyObject *
device_count(PyObject *self, PyObject *unused) {
  return PyLong_FromLong(td_device_count());
}

PyMethodDef tdpy_session_functions[] = {
    {"set_devices", set_devices, METH_O, NULL},
    {"set_semantics", set_semantics, METH_O, NULL},
    {"set_scheduler", set_scheduler, METH_O, NULL},
    {"set_schedule", set_schedule, METH_O, NULL},
    {"dependencies_2017", dependencies_2017, METH_NOARGS,
     "Within a pass of the scheduler of 2017: the Counters that are not empty, as a list of\n"
     "(node, output_nr, consumer, uses)."},
    {"set_checks", set_checks, METH_VARARGS, NULL},
    {"record_begin", record_begin, METH_VARARGS, NULL},
    {"record_for_session", record_for_session, METH_VARARGS, NULL},
    {"join_session", join_session, METH_VARARGS, NULL},
    {"record_end", record_end, METH_O, NULL},
    {"record_abandon", record_abandon, METH_NOARGS, NULL},
    {"mark", mark, METH_O, "Leaves a mark with a text on the tape; nothing where nothing records."},
    {"step", step, METH_NOARGS,
     "Counts a training step on the tape; nothing where nothing records."},
    {"keep", keep, METH_O,
     "Has `tapedeck record` keep only the end of this process's tape from now on: 200MB, 50steps "
     "or\n"
     "10min of it. The last call counts. Nothing where nothing records."},
    {"dump", dump, METH_NOARGS,
     "Has `tapedeck record --keep` write what it has kept; nothing where nothing is kept."},
    {"set_name", set_name, METH_VARARGS, NULL},
    {"no_gradient", no_gradient, METH_VARARGS, NULL},
    {"has_run_backward", has_run_backward, METH_NOARGS,
     "Whether a backward pass has begun in this process."},
    {"device_count", device_count, METH_NOARGS, "The number of simulated accelerators."},
    {NULL}};
