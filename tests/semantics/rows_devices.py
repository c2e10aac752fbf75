# SPDX-License-Identifier: LGPL-2.1-or-later
"""M: devices and routing. What needs accelerators runs on simulated ones; PyTorch for CPUs has none."""
import threading

from harness import of_kind, row

ONLY = 'PyTorch for CPUs has no accelerator'
TWO = {'only': ONLY, 'devices': 'cpu,sim:2'}


def here():
    """What runs here: 'caller' or the device thread's name."""
    name = open('/proc/thread-self/comm').read().strip()
    return name if name.startswith('pt_autograd') else 'caller'


def spy(torch, seen, name='node', result=lambda g: g):
    """x -> a copy, by a node that notes its thread as it runs, and returns result(gradient)."""
    class Spy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append([name, here()])
            return result(g)
    return Spy.apply


@row('M-01', expect=[[['node', 'caller']], 'meta', [2]])
def meta_tensors_go_to_the_callers_queue(torch):
    seen = []
    x = torch.ones(2, device='meta', requires_grad=True)
    (spy(torch, seen)(x) * 2).sum().backward()
    return [seen, x.grad.device.type, list(x.grad.shape)]


@row('M-05', expect=[[['root', 'pt_autograd_1']], [['root', 'pt_autograd_0']]], **TWO)
def a_root_begins_on_its_own_device(torch):
    def threads(device):
        seen, x = [], torch.ones(2, device=device, requires_grad=True)
        spy(torch, seen, 'root')(x).backward(torch.ones(2, device=device))
        return seen
    return [threads('sim:1'), threads('sim:0')]


@row('M-02', expect=[['at the root', 'pt_autograd_1'], ['below', 'pt_autograd_0']], **TWO)
def each_device_has_a_thread(torch):
    seen = []
    x = torch.ones(2, device='sim:0', requires_grad=True)
    below = spy(torch, seen, 'below')(x)
    spy(torch, seen, 'at the root')(below.to('sim:1')).backward(torch.ones(2, device='sim:1'))
    return seen


def without_gradient(torch):
    """A node on a device that gets no gradient at all."""
    seen = []

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return None
    x = torch.ones(2, device='sim:0', requires_grad=True)
    Nothing.apply(spy(torch, seen)(x)).backward(torch.ones(2, device='sim:0'))
    return seen


@row('M-03', semantics='1.11', expect=[['node', 'caller']], **TWO)
def before_by_the_gradients(torch):
    return without_gradient(torch)


@row('M-04', expect=[['node', 'pt_autograd_0']], **TWO)
def by_the_nodes_metadata(torch):
    return without_gradient(torch)


def two_roots(torch):
    seen = []
    x = torch.ones(2, device='sim:1', requires_grad=True)
    roots = [spy(torch, seen, name)(x) for name in 'ab']
    torch.autograd.backward(roots, [torch.ones(2, device='sim:1')] * 2)
    return [sorted(seen), x.grad.tolist()]


def thread_of_root(events):
    """Whether the GraphRoot ran on the thread of the nodes below it, a device's."""
    threads = {e['node_name']: e['thread'] for e in of_kind(events, 'node_begin')}
    return threads['GraphRoot'] == threads['SpyBackward']


BOTH = [[['a', 'pt_autograd_1'], ['b', 'pt_autograd_1']], [2.0, 2.0]]


@row('M-06', tape=thread_of_root, expect=BOTH, expect_tape=True, **TWO)
def the_graph_root_is_where_its_gradients_are(torch):
    return two_roots(torch)


@row('M-06', tape=thread_of_root, semantics='1.11', expect=BOTH, expect_tape=False, **TWO)
def before_the_graph_root_was_the_callers(torch):
    return two_roots(torch)


@row('M-07', expect=[['leaf', 'caller'], [3.0, 3.0]], **TWO)
def a_cpu_leaf_is_the_callers(torch):
    seen = []
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(['leaf', here()]))
    (x.to('sim:0') * 3).backward(torch.ones(2, device='sim:0'))
    return [*seen, x.grad.tolist()]


def wakes(events):
    return len(of_kind(events, 'queue_wake'))


@row('M-08', tape=wakes, expect=[4.0], expect_tape=1, **TWO)
def the_owner_is_woken_by_the_device_that_finished(torch):
    x = torch.ones(1, device='sim:0', requires_grad=True)
    (x * 4).backward(torch.ones(1, device='sim:0'))
    return x.grad.tolist()


@row('M-09', tape=wakes, expect=[4.0], expect_tape=0)
def nobody_is_woken_where_the_caller_finishes(torch):
    x = torch.ones(1, requires_grad=True)
    (x * 4).backward()
    return x.grad.tolist()


@row('M-10', expect=[[['a', 'pt_autograd_0'], ['b', 'pt_autograd_0']], [[1.0], [1.0]]], **TWO)
def one_device_thread_serves_all(torch):
    seen, grads = [], {}

    def backward(name):
        x = torch.ones(1, device='sim:0', requires_grad=True)
        spy(torch, seen, name)(x).backward(torch.ones(1, device='sim:0'))
        grads[name] = x.grad.tolist()
    threads = [threading.Thread(target=backward, args=[name]) for name in 'ab']
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [sorted(seen), [grads[name] for name in 'ab']]


@row('M-11', expect=[[1, 1], [0, 0], 0], **TWO)
def a_node_runs_with_its_device_current(torch):
    seen = []

    def look(g):
        seen.append([torch.accelerator.current_device_index(), g.device.index])
        return g
    x = torch.ones(1, device='sim:0', requires_grad=True)
    y = spy(torch, [], result=look)(spy(torch, [], result=look)(x).to('sim:1'))
    y.backward(torch.ones(1, device='sim:1'))
    return [*seen, torch.accelerator.current_device_index()]


@row('M-12', expect=[2.0], **TWO)
def sums_across_devices(torch):
    x = torch.ones(1, device='sim:0', requires_grad=True)
    (x.to('sim:1') + x.to('sim:1')).backward(torch.ones(1, device='sim:1'))
    return x.grad.tolist()


@row('M-13', expect=[[2.0, 2.0], [['sim:0', [0.0, 0.0]], ['sim:1', [2.0, 2.0]]]], **TWO)
def unused_outputs_on_devices_are_zeros_there(torch):
    seen = []

    class Broadcast(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.to('sim:0').clone(), x.to('sim:1')

        @staticmethod
        def backward(ctx, a, b):
            seen.extend([str(g.device), g.tolist()] for g in (a, b))
            return a + b.to('sim:0')
    x = torch.ones(2, device='sim:0', requires_grad=True)
    (Broadcast.apply(x)[1] * 2).backward(torch.ones(2, device='sim:1'))
    return [x.grad.tolist(), seen]


def reenter(torch, inner, outer):
    """A node on `outer` that runs a pass on `inner`."""
    class Reenter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                y = torch.ones(1, device=inner, requires_grad=True)
                (y * y).sum().backward()
            return g * y.grad.to(outer)
    x = torch.ones(1, device=outer, requires_grad=True)
    Reenter.apply(x).sum().backward()
    return x.grad.tolist()


@row('M-14', expect=[[2.0]] * 5, seconds=20, **TWO)
def passes_within_nodes_on_other_devices(torch):
    return [reenter(torch, inner, outer) for inner, outer in
            (('sim:0', 'sim:1'), ('sim:1', 'sim:0'), ('cpu', 'sim:0'), ('sim:0', 'cpu'), ('sim:0', 'sim:0'))]
