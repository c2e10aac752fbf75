# SPDX-License-Identifier: LGPL-2.1-or-later
"""I: final callbacks."""
from harness import of_kind, row, text_of


def queue(torch, callback):
    torch.autograd.Variable._execution_engine.queue_callback(callback)


def short_name(owner):
    """'call' of 'Node.call (rows_final_callbacks.py:7)'."""
    return owner.split(' (')[0].split('.')[-1]


def callbacks(events):
    """What was queued, called and over, in order, with the pass it belongs to; the first such pass is 0."""
    passes = {}
    words = {'final_callback_new': 'queue', 'final_callback': 'call', 'final_callback_end': 'end'}
    found = []
    for event in of_kind(events, *words):
        owner = short_name(event.get('owner', ''))
        found.append(' '.join([words[event['event']], *([owner] if owner else []),
                               str(passes.setdefault(event['graph_task'], len(passes)))]))
    return found


def node(torch, backward):
    """A function whose backward calls backward() first."""
    class Node(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            backward()
            return g
    return Node.apply


def calls_with_callbacks(torch, first):
    """What is called in a pass whose node queues first(calls) and another callback."""
    calls = []

    def backward():
        calls.append('node')
        queue(torch, lambda: first(calls))
        queue(torch, lambda: calls.append('cb2'))
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda g: calls.append('leaf hook'))
    node(torch, backward)(x).backward()
    return calls


@row('I-01', tape=callbacks, expect=['node', 'leaf hook', 'cb1', 'cb2'],
     expect_tape=['queue <lambda> 0', 'queue <lambda> 0', 'call <lambda> 0', 'end 0', 'call <lambda> 0', 'end 0'])
def in_order_after_all_nodes(torch):
    return calls_with_callbacks(torch, lambda calls: calls.append('cb1'))


@row('I-02', tape=callbacks, expect=['node', 'leaf hook', 'cb1', 'cb2', 'cb3'],
     expect_tape=['queue <lambda> 0', 'queue <lambda> 0', 'call <lambda> 0', 'queue <lambda> 0', 'end 0', 'call <lambda> 0',
                  'end 0', 'call <lambda> 0', 'end 0'])
def a_callback_queues_another(torch):
    def first(calls):
        calls.append('cb1')
        queue(torch, lambda: calls.append('cb3'))
    return calls_with_callbacks(torch, first)


@row('I-03', expect='RuntimeError: Final callbacks can only be installed during backward pass.')
def outside_a_pass(torch):
    return text_of(lambda: queue(torch, lambda: None))


@row('I-04', tape=callbacks, expect=['RuntimeError: cb boom', [1.0], ['before'], None])
def an_error_ends_the_pass(torch):
    calls = []

    def boom():
        raise RuntimeError('cb boom')

    def backward():
        queue(torch, lambda: calls.append('before'))
        queue(torch, boom)
        queue(torch, lambda: calls.append('after'))
    x = torch.ones(1, requires_grad=True)
    text = text_of(lambda: node(torch, backward)(x).backward())
    return [text, x.grad.tolist(), calls, text_of(lambda: (x * 2).backward())]


@row('I-05', tape=callbacks, expect=['RuntimeError: node boom', []], expect_tape=['queue <lambda> 0'])
def not_after_an_error(torch):
    calls = []

    def backward():
        queue(torch, lambda: calls.append('callback'))
        raise RuntimeError('node boom')
    x = torch.ones(1, requires_grad=True)
    return [text_of(lambda: node(torch, backward)(x).backward()), calls]


@row('I-06', tape=callbacks, expect=['inner node', 'inner callback', 'outer node ends', 'outer callback'],
     expect_tape=['queue <lambda> 0', 'queue <lambda> 1', 'call <lambda> 1', 'end 1', 'call <lambda> 0', 'end 0'])
def of_the_innermost_pass(torch):
    calls = []

    def inner():
        calls.append('inner node')
        queue(torch, lambda: calls.append('inner callback'))

    def outer():
        queue(torch, lambda: calls.append('outer callback'))
        with torch.enable_grad():
            node(torch, inner)(torch.ones(1, requires_grad=True)).backward()
        calls.append('outer node ends')
    node(torch, outer)(torch.ones(1, requires_grad=True)).backward()
    return calls


@row('I-06', tape=callbacks, expect=['inner', 'queued by inner', 'outer'],
     expect_tape=['queue outer 0', 'queue inner 1', 'call inner 1', 'queue <lambda> 1', 'end 1', 'call <lambda> 1', 'end 1',
                  'call outer 0', 'end 0'])
def a_callback_of_an_inner_pass_queues_another(torch):
    calls = []

    def inner():
        calls.append('inner')
        queue(torch, lambda: calls.append('queued by inner'))

    def outer():
        calls.append('outer')

    def backward():
        queue(torch, outer)
        with torch.enable_grad():
            node(torch, lambda: queue(torch, inner))(torch.ones(1, requires_grad=True)).backward()
    node(torch, backward)(torch.ones(1, requires_grad=True)).backward()
    return calls


@row('I-06', tape=callbacks, expect=['callback', 'its own pass', 'its callback', 'next callback'],
     expect_tape=['queue callback 0', 'queue <lambda> 0', 'call callback 0', 'queue <lambda> 1', 'call <lambda> 1', 'end 1',
                  'end 0', 'call <lambda> 0', 'end 0'])
def a_callback_may_call_backward(torch):
    calls = []

    def nested():
        calls.append('its own pass')
        queue(torch, lambda: calls.append('its callback'))

    def callback():
        calls.append('callback')
        with torch.enable_grad():
            node(torch, nested)(torch.ones(1, requires_grad=True)).backward()

    def backward():
        queue(torch, callback)
        queue(torch, lambda: calls.append('next callback'))
    node(torch, backward)(torch.ones(1, requires_grad=True)).backward()
    return calls


@row('I-01', expect=[False, True, False])
def with_the_grad_mode_of_the_pass(torch):
    modes = []

    def run(create_graph):
        x = torch.ones(1, requires_grad=True)
        y = node(torch, lambda: queue(torch, lambda: modes.append(torch.is_grad_enabled())))(x)
        torch.autograd.grad(y, x, create_graph=create_graph)
    run(False)
    run(True)
    x = torch.ones(1, requires_grad=True)
    y = node(torch, lambda: queue(torch, lambda: modes.append(torch.is_grad_enabled())))(x)
    with torch.no_grad():
        y.backward()
    return modes


def callback_threads(events):
    """For each callback: whose it is, and whether its thread is the one that counted the pass's last task down."""
    last, found = {}, []
    for event in of_kind(events, 'outstanding', 'final_callback'):
        if event['event'] == 'outstanding':
            last[event['graph_task']] = event['thread']
        else:
            found.append([short_name(event['owner']), event['thread'] == last[event['graph_task']]])
    return found


@row('I-07', tape=callback_threads, expect_tape=[['named', True]], devices='cpu,sim:1',
     only='PyTorch has no simulated device to finish a pass', expect=['pt_autograd_0'])
def by_the_thread_that_finished(torch):
    threads = []

    def named():
        threads.append(open('/proc/thread-self/comm').read().strip())

    def backward():
        queue(torch, named)
    x = torch.ones(1, device='sim:0', requires_grad=True)
    node(torch, backward)(x).backward(torch.ones(1, device='sim:0'))
    return threads
