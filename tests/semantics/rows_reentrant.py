# SPDX-License-Identifier: LGPL-2.1-or-later
"""K: re-entrant backward and the thread pool. Passes over several devices are in tests/pass/test_reentry.c."""
import contextlib
import os
import threading
import time

from harness import of_kind, row, text_of
from shapes import nested


def depths_of(events):
    return {event['graph_task']: event['depth'] for event in of_kind(events, 'graph_task_begin')}


def one_level(events):
    """Of each pass: depth, whether it is the first one's thread and queue, and who called it."""
    depths, pops = depths_of(events), of_kind(events, 'queue_pop')
    enters = [[event['node_name'], event['depth']] for event in of_kind(events, 'reentrant_enter')]
    leaves = [[event['node_name'], event['depth']] for event in of_kind(events, 'reentrant_leave')]
    return [sorted(depths.values()), len({event['thread'] for event in pops}), len({event['queue'] for event in pops}),
            enters, leaves]


@row('K-01', tape=one_level, expect_tape=[[0, 1], 1, 1, [['NestBackward', 1]], [['NestBackward', 1]]])
def a_nested_pass_runs_on_the_same_thread(torch):
    return nested(torch, 1)


def submissions(events):
    """Depths of the passes that go to the pool."""
    depths = depths_of(events)
    return [depths[event['graph_task']] for event in of_kind(events, 'pool_push')]


@row('K-03', tape=submissions, expect=[1.0], expect_tape=[])
def sixty_levels_on_one_thread(torch):
    return nested(torch, 60)


@row('K-03', tape=submissions, expect=[1.0], expect_tape=[61])
def the_61st_goes_to_the_pool(torch):
    return nested(torch, 61)


def stretches(events):
    """For each thread, in the order of depth: the least and the greatest depth of the passes whose nodes it ran, and how
    many depths."""
    depths, by_thread = depths_of(events), {}
    for event in of_kind(events, 'queue_pop'):
        by_thread.setdefault(event['thread'], set()).add(depths[event['graph_task']])
    return sorted([min(run), max(run), len(run)] for run in by_thread.values())


def queues(events):
    """How many threads popped, and from how many queues."""
    pops = of_kind(events, 'queue_pop')
    return [len({event['thread'] for event in pops}), len({event['queue'] for event in pops})]


@row('K-04', tape=submissions, expect=[1.0], expect_tape=[61, 122])
def each_thread_of_the_pool_submits_the_62nd(torch):
    return nested(torch, 130)


@row('K-05', tape=queues, expect=[1.0], expect_tape=[3, 1])
def threads_of_the_pool_pop_from_the_callers_queue(torch):
    return nested(torch, 130)


@row('K-06', tape=stretches, expect=[1.0], expect_tape=[[0, 60, 61], [61, 121, 61], [122, 130, 9]])
def each_thread_of_the_pool_nests_61_deep(torch):
    return nested(torch, 130)


def order_of_submission(events):
    """That nothing of a submitted pass runs before it was submitted, and that its caller runs nothing until it is over."""
    submitted, callers, fine = set(), {}, []
    for event in of_kind(events, 'pool_push', 'dependency_dec', 'node_begin', 'graph_task_end'):
        graph_task = event['graph_task']
        if event['event'] == 'pool_push':
            submitted.add(graph_task)
            callers[graph_task] = event['thread']
        elif event['event'] == 'graph_task_end':
            callers.pop(graph_task, None)
        else:
            fine.append(event['thread'] not in callers.values())
    return [len(submitted), all(fine)]


@row('K-10', tape=order_of_submission, expect_tape=[2, True])
def who_submits_a_pass_waits_for_it(torch):
    return nested(torch, 130)


def pool_use(events):
    """For each outermost pass: how many threads of the pool began, and which it used."""
    depths, new, used = depths_of(events), [], []
    for event in of_kind(events, 'graph_task_begin', 'pool_thread_new', 'queue_pop'):
        if event['event'] == 'graph_task_begin' and event['depth'] == 0:
            new.append(0)
            used.append(set())
        elif event['event'] == 'pool_thread_new':
            new[-1] += 1
        elif event['event'] == 'queue_pop' and depths[event['graph_task']] > 60:
            used[-1].add(event['thread'])
    return [new, used]


def new_threads(events):
    return pool_use(events)[0]


def used_threads(events):
    """How many threads of the pool each outermost pass used, and whether they were the same."""
    first, second = pool_use(events)[1]
    return [len(first), len(second), first == second]


def others_sleep():
    """Whether each other thread of this process sleeps."""
    states = set()
    for thread in set(os.listdir('/proc/self/task')) - {str(threading.get_native_id())}:
        with contextlib.suppress(OSError), open(f'/proc/self/task/{thread}/stat') as file:  # it may have ended
            states.add(file.read().rpartition(')')[2].split()[0])
    return states <= {'S'}


def wait_for_others():
    """Until ten looks in a row find every other thread asleep: those of the pool are idle. The recorder's wakes now and then."""
    in_a_row = 0
    while in_a_row < 10:
        time.sleep(0.01)
        in_a_row = in_a_row + 1 if others_sleep() else 0


def two_towers(torch):
    first = nested(torch, 130)
    wait_for_others()
    return first, nested(torch, 130)


@row('K-07', process=True, tape=new_threads, expect=[[1.0], [1.0]], expect_tape=[2, 0])
def idle_threads_are_used_again(torch):
    return two_towers(torch)


@row('K-08', process=True, tape=used_threads, expect=[[1.0], [1.0]], expect_tape=[2, 2, True])
def any_idle_thread_will_do(torch):
    return two_towers(torch)


@row('K-09', process=True, since='2.1',
     expect=[[0, 1], [59, 61], [60, 63], [61, 0], [62, 2], [121, 62], [122, 0], [123, 2]])
def each_thread_numbers_nodes_by_itself(torch):
    numbers = []

    def visit(depth):
        if depth in (0, 59, 60, 61, 62, 121, 122, 123):
            with torch.enable_grad():
                numbers.append([depth, (torch.ones(1, requires_grad=True) * 2).grad_fn._sequence_nr()])
    nested(torch, 124, visit)
    return numbers


@row('K-12', expect=[1.0])
def two_thousand_levels(torch):
    return nested(torch, 2000)


@row('K-17', expect=[True, True, False, [2.0]])
def grad_mode_is_as_before(torch):
    modes = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                x = torch.ones(1, requires_grad=True)
                modes.append(torch.is_grad_enabled())
                torch.autograd.grad(x * 3, x)
                modes.append(torch.is_grad_enabled())
            modes.append(torch.is_grad_enabled())
            return g * 2
    x = torch.ones(1, requires_grad=True)
    Double.apply(x).backward()
    return modes + [x.grad.tolist()]


@row('K-18')
def hooks_may_call_backward(torch):
    """On a leaf and on what was computed; PyTorch's own test of it."""
    found = []
    for on_leaf in (True, False):
        handle = None
        param = torch.tensor([2.0, 3.0], requires_grad=True)

        def hook(grad):
            handle.remove()
            with torch.enable_grad():
                (param * param).sum().backward()
        product = param * 1
        handle = (param if on_leaf else product).register_hook(hook)
        (product * 1).sum().backward()
        found.append(param.grad.tolist())
    return found


@row('J-12', expect=['RuntimeError: deep', [1.0]])
def an_error_comes_up_from_the_pool(torch):
    def visit(depth):
        if depth == 125:
            raise RuntimeError('deep')
    return [text_of(lambda: nested(torch, 130, visit)), nested(torch, 130)]
