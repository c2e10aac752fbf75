# SPDX-License-Identifier: LGPL-2.1-or-later
"""L: threads, fork, the end of the process. Device threads are in tests/pass/test_device_threads.c."""
import os
import threading

from harness import of_kind, row, text_of
from shapes import nested


def function(torch, visit, gradient=lambda g: g):
    class Visit(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            visit()
            return gradient(g)
    return Visit.apply


@row('L-01', expect=[True, True])
def nodes_run_on_the_calling_thread(torch):
    threads = []
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda g: threads.append(threading.get_ident()))
    function(torch, lambda: threads.append(threading.get_ident()))(x).backward()
    return [thread == threading.get_ident() for thread in threads]


def threads_of_engine():
    names = []
    for task in os.listdir('/proc/self/task'):
        try:
            names.append(open(f'/proc/self/task/{task}/comm').read())
        except OSError:
            pass
    return sum(name.startswith('pt_autograd') for name in names)


@row('L-02', process=True, expect=0)
def no_thread_of_its_own_for_the_cpu(torch):
    x = torch.ones(1, requires_grad=True)
    (x * 2).sum().backward()
    return threads_of_engine()


def in_threads(n, call):
    threads = [threading.Thread(target=call, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def threads_and_queues(events):
    pops = {(event['thread'], event['queue']) for event in of_kind(events, 'queue_pop')}
    return [len({thread for thread, queue in pops}), len({queue for thread, queue in pops}), len(pops)]


@row('L-03', tape=threads_and_queues, expect=[[1.0], [1.0]], expect_tape=[2, 2, 2])
def passes_of_two_threads_run_at_once(torch):
    """Each is in a node when the other is."""
    meeting = threading.Barrier(2, timeout=120)
    leaves = [torch.ones(1, requires_grad=True) for _ in range(2)]

    def run(i):
        function(torch, meeting.wait)(leaves[i]).backward()
    in_threads(2, run)
    return [leaf.grad.tolist() for leaf in leaves]


@row('L-04', expect=[True, []])
def a_shared_graph_works_once(torch):
    x = torch.ones(5, 5, requires_grad=True)
    y = x.exp() * 2
    texts, second = [], 'RuntimeError: Trying to backward through the graph a second time'
    in_threads(5, lambda i: texts.append(text_of(lambda: y.sum().backward())))
    return [None in texts, [text for text in texts if text and not text.startswith(second)]]


@row('L-05')
def with_retain_graph_all_are_exact(torch):
    x = torch.full((5,), 2.0, requires_grad=True)
    y = x * x * (x * x + x * 2 + x + 0 * x) + x
    in_threads(5, lambda i: y.sum().backward(retain_graph=True))
    return x.grad.tolist()


@row('L-06')
def a_graph_forks_and_joins_over_threads(torch):
    x = torch.full((5,), 2.0, requires_grad=True)
    middle, parts = x * 2 + x * x, [None] * 5

    def build(i):
        parts[i] = middle * float(i + 1) + x
    in_threads(5, build)
    sum(part.sum() for part in parts).backward()
    return x.grad.tolist()


def in_child(call):
    """What a call returns, as text, in a forked process."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, str(call()).encode())
        os._exit(0)
    os.close(theirs)
    text = os.read(ours, 1000).decode()
    os.close(ours)
    os.waitpid(child, 0)
    return text


def backward(torch):
    x = torch.ones(1, requires_grad=True)
    return text_of(lambda: (x * 2).backward()) or x.grad.tolist()


@row('L-07', process=True, expect=[[2.0], '[2.0]'])
def a_child_may_go_on_after_cpu_passes(torch):
    return [backward(torch), in_child(lambda: backward(torch))]


FORK = ("Unable to handle autograd's threading in combination with fork-based multiprocessing. See "
        'https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork')


IN_1_11 = {'process': True, 'only': 'PyTorch 1.11 is not at hand', 'semantics': '1.11'}


@row('L-07', expect=[[2.0], f'RuntimeError: {FORK}'], **IN_1_11)
def in_1_11_no_child_may_after_any_pass(torch):
    return [backward(torch), in_child(lambda: backward(torch))]


@row('L-08', expect=[[1.0], f'RuntimeError: {FORK}', [2.0]], **IN_1_11)
def in_1_11_no_child_may_after_threads(torch):
    return [nested(torch, 61), in_child(lambda: backward(torch)), backward(torch)]


@row('L-08', process=True, expect=[[1.0], f'RuntimeError: {FORK}', [2.0]])
def no_child_may_after_threads(torch):
    return [nested(torch, 61), in_child(lambda: backward(torch)), backward(torch)]


@row('L-12', devices='cpu,sim:2', process=True, only='PyTorch has no simulated devices',
     expect=[['pt_autograd_1'], [], ['pt_autograd_1']])
def without_multithreading_all_runs_on_the_caller(torch):
    """The names of the device threads that nodes ran on."""
    def names():
        found = []

        def visit():
            name = open('/proc/thread-self/comm').read().strip()
            if name.startswith('pt_autograd'):
                found.append(name)
        x = torch.ones(1, device='sim:1', requires_grad=True)
        function(torch, visit)(x).backward(torch.ones(1, device='sim:1'))
        return found
    before = names()
    with torch.autograd.set_multithreading_enabled(False):
        within = names()
    return [before, within, names()]


@row('L-12', since='2.0', expect=[True, False, True, False, True])
def multithreading_is_a_context_and_a_function(torch):
    found = [torch._C._is_multithreading_enabled()]
    with torch.autograd.set_multithreading_enabled(False):
        found.append(torch._C._is_multithreading_enabled())
    found.append(torch._C._is_multithreading_enabled())
    torch.autograd.set_multithreading_enabled(False)
    found.append(torch._C._is_multithreading_enabled())
    torch.autograd.set_multithreading_enabled(True)
    return found + [torch._C._is_multithreading_enabled()]


@row('L-13', since='2.0', expect=[[True, [0, 61]], True, False])
def what_a_thread_stashed_follows_its_pass(torch):
    """Also to a thread of the pool, which can change it."""
    stashed, seen = [0], []
    torch._C._stash_obj_in_tls('numbers', stashed)

    def visit(depth):
        if depth == 61:
            seen.append(torch._C._is_key_in_tls('numbers'))
            torch._C._get_obj_in_tls('numbers').append(61)
    nested(torch, 61, visit)
    elsewhere = []
    in_threads(1, lambda i: elsewhere.append(torch._C._is_key_in_tls('numbers')))
    return [[*seen, torch._C._get_obj_in_tls('numbers')], torch._C._get_obj_in_tls('numbers') is stashed, *elsewhere]


@row('L-13', since='2.0', expect=[False, True])
def so_does_the_multithreading_switch(torch):
    seen = []

    def visit(depth):
        if depth == 61:
            seen.append(torch._C._is_multithreading_enabled())
    with torch.autograd.set_multithreading_enabled(False):
        nested(torch, 61, visit)
    return seen + [torch._C._is_multithreading_enabled()]


