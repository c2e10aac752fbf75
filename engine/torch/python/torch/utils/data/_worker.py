# SPDX-License-Identifier: LGPL-2.1-or-later
"""A worker of a loader: a process that makes batches.

It gets pairs of a number and indices, and gives pairs of the number and a batch. RESUME begins the dataset anew, and
None ends the worker.
"""
import collections
import os
import random
import sys
import traceback

from torch._names import manual_seed

RESUME = 'resume'
_LOOK_UP_EVERY_S = 5

_info = None


WorkerInfo = collections.namedtuple('WorkerInfo', 'id num_workers seed dataset')


def get_worker_info():
    """The WorkerInfo of this process; None if it is no worker."""
    return _info


class End:
    """The worker's part of an iterable dataset is over."""


class Failure:
    """An exception in a worker. Its class is lost if it cannot be sent."""

    def __init__(self, worker):
        self.kind, self.worker = sys.exc_info()[0], worker
        self.text = traceback.format_exc()

    def raise_again(self):
        text = f'Caught {self.kind.__name__} in DataLoader worker process {self.worker}.\nOriginal {self.text}'
        try:
            problem = self.kind(_Text(text) if self.kind is KeyError else text)
        except Exception:
            raise RuntimeError(text) from None
        raise problem


class _Text(str):
    """A KeyError shows the repr() of what it says. This one has lines."""

    def __repr__(self):
        return self


# What all workers of a loader share.
Work = collections.namedtuple('Work', 'make_fetcher dataset init_fn num_workers base_seed')


def _seed(work, number):
    seed = work.base_seed + number
    random.seed(seed)
    manual_seed(seed)
    if 'numpy' in sys.modules:
        import numpy
        words = [number, work.base_seed & 0xffffffff, work.base_seed >> 32, 0]
        numpy.random.seed(numpy.random.SeedSequence(words).generate_state(4))
    return seed


def _tasks(tasks, parent):
    """What the loader asks for, until it wants no more or is no more."""
    import queue
    while True:
        try:
            task = tasks.get(timeout=_LOOK_UP_EVERY_S)
        except queue.Empty:
            if os.getppid() != parent:
                return
            continue
        if task is None:
            return
        yield task


class _Worker:
    def __init__(self, work, number, results):
        self.work, self.number, self.results, self.fetcher, self.failure = work, number, results, None, None

    def begin(self):
        try:
            if self.work.init_fn is not None:
                self.work.init_fn(self.number)
            self.fetcher = self.work.make_fetcher(self.work.dataset)
        except Exception:
            self.failure = Failure(self.number)

    def answer(self, wanted):
        if self.failure:
            failure, self.failure = self.failure, None
            return failure
        try:
            return self.fetcher.fetch(wanted)
        except StopIteration:
            return End()
        except Exception:
            return Failure(self.number)

    def send(self, number, answer):
        try:
            self.results.send((number, answer))
        except (BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception:  # it cannot be pickled
            failure = Failure(self.number)
            failure.kind = RuntimeError
            self.results.send((number, failure))

    def run(self, tasks, parent):
        for task in _tasks(tasks, parent):
            if task == RESUME:
                self.begin_again()
                self.results.send((RESUME, None))
            else:
                self.send(task[0], self.answer(task[1]))

    def begin_again(self):
        self.fetcher = self.work.make_fetcher(self.work.dataset)


def run(work, number, tasks, results, others, parent):
    """The main function of a worker. `others` are ends of pipes that belong to the loader."""
    global _info
    for connection in others:
        connection.close()
    try:
        _info = WorkerInfo(number, work.num_workers, _seed(work, number), work.dataset)
        worker = _Worker(work, number, results)
        worker.begin()
        worker.run(tasks, parent)
    except (KeyboardInterrupt, BrokenPipeError):
        pass  # the loader has ended
