# SPDX-License-Identifier: LGPL-2.1-or-later
"""The iterator of a loader with workers. Batches come in the order in which they were asked for.

The workers are processes, as PyTorch's are. They are no part of a recording: the child of a fork drops it.
"""
import os
import weakref

from torch.utils.data import _worker as worker

_GOODBYE_S = 5


def _dismiss(workers, owner):
    """Lets the workers go. Who does not go is ended. A fork of the owner leaves them alone."""
    if os.getpid() != owner:
        return
    for one in workers:
        one.tasks.cancel_join_thread()
        one.tasks.put(None)
        one.results.close()
    for one in workers:
        one.process.join(_GOODBYE_S)
        if one.process.is_alive():
            one.process.terminate()
        one.tasks.close()
    workers.clear()


class _Hand:
    """The loader's side of a worker."""

    def __init__(self, context, work, number, others):
        self.tasks = context.Queue()
        self.results, answers = context.Pipe(duplex=False)
        ends = [one.results for one in others] + [self.results] if context.get_start_method() == 'fork' else []
        self.process = context.Process(target=worker.run, daemon=True,
                                       args=(work, number, self.tasks, answers, ends, os.getpid()))
        self.process.start()
        answers.close()
        self.works = True


class ProcessIterator:
    """Each of the workers gets every n-th batch. Some batches are asked for ahead."""

    def __init__(self, loader, base_seed):
        import multiprocessing  # few programs have workers, and it imports much
        context = loader.multiprocessing_context or multiprocessing
        work = worker.Work(loader._make_fetcher, loader.dataset, loader.worker_init_fn, loader.num_workers, base_seed)
        self._hands = []
        self._end = weakref.finalize(self, _dismiss, self._hands, os.getpid())
        for number in range(loader.num_workers):
            self._hands.append(_Hand(context, work, number, self._hands))
        self._begin(loader)

    def _begin(self, loader):
        self._loader, self._wanted = loader, iter(loader._index_sampler)
        self._n_asked = self._n_given = self._turn = 0
        self._asked, self._came = {}, {}  # by the number of a batch: its worker, and what came too early
        for hand in self._hands:
            hand.works = True
        for _ in range(loader.prefetch_factor * loader.num_workers):
            self._ask()

    def begin_again(self, loader):
        """Another epoch with the same workers. What they still send of the last one is dropped."""
        for hand in self._hands:
            hand.tasks.put(worker.RESUME)
        for hand in self._hands:
            while self._receive([hand])[0] != worker.RESUME:
                pass
        self._begin(loader)

    def _next_hand(self):
        for _ in self._hands:
            hand = self._hands[self._turn]
            self._turn = (self._turn + 1) % len(self._hands)
            if hand.works:
                return hand
        return None

    def _ask(self):
        """Asks for one batch more, if there is one."""
        try:
            wanted = next(self._wanted)
        except StopIteration:
            return
        hand = self._next_hand()
        if hand:
            hand.tasks.put((self._n_asked, wanted))
            self._asked[self._n_asked] = hand
            self._n_asked += 1

    def _receive(self, hands):
        """(number, answer) of one of the workers."""
        from multiprocessing import connection
        timeout = self._loader.timeout or None
        ready = connection.wait([hand.results for hand in hands], timeout)
        if not ready:
            raise RuntimeError(f'DataLoader timed out after {timeout} seconds')
        try:
            return ready[0].recv()
        except EOFError:
            gone = next(hand for hand in hands if hand.results is ready[0])
            raise RuntimeError(f'DataLoader worker (pid(s) {gone.process.pid}) exited unexpectedly') from None

    def _answer(self, number):
        """What came for this batch; None if its worker had ended."""
        hand = self._asked.pop(number)
        while number not in self._came:
            if not hand.works:
                return None
            got, answer = self._receive([hand])
            self._came[got] = answer
            if isinstance(answer, worker.End):
                hand.works = False
                self._ask()
        answer = self._came.pop(number)
        return None if isinstance(answer, worker.End) else (answer,)

    def __next__(self):
        while self._n_given < self._n_asked:
            answer = self._answer(self._n_given)
            self._n_given += 1
            if answer is None:
                continue
            self._ask()
            if isinstance(answer[0], worker.Failure):
                answer[0].raise_again()
            return answer[0]
        if not self._loader.persistent_workers:
            self._end()
        raise StopIteration
