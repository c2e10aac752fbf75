# SPDX-License-Identifier: LGPL-2.1-or-later
"""N: streams in a backward pass, on simulated devices. What is looked at is who records an event and who waits for it
for the sake of a node's input buffer, or at the end of a pass, and on which streams."""
import warnings

from harness import of_kind, row

ONLY = 'PyTorch for CPUs has no streams'
NEW = {'only': ONLY, 'devices': 'cpu,sim:2'}
OLD = {'semantics': '1.11', **NEW}


class Streams:
    """Names for the streams of a row: 'a' is device 0, 'b' device 1, 'a0' its default stream, 'a1' the first side stream
    that the row used. They are noted in a mark of the program's that stands on the tape before everything else."""

    def __init__(self, torch, **names):
        import tapedeck
        self.side = {name: torch.Stream(f'sim:{"ab".index(device)}') for name, device in names.items()}
        tapedeck.mark('streams ' + ' '.join(f'{s.device_index}.{s.stream_id}={name}' for name, s in self.side.items()))

    def __getattr__(self, name):
        return self.side[name]


def names_of(events):
    for event in of_kind(events, 'mark'):
        if event['text'].startswith('streams'):
            return dict(pair.split('=') for pair in event['text'].split()[1:])
    return {}


def steps(events, *nodes):
    """What was done with streams for the buffers of these nodes, in order: arrivals with their case, events recorded and
    waited for, sums, and where the node itself begins."""
    names = names_of(events)

    def stream(event):
        key = f'{event["device"]}.{event["stream"]}'
        return names.get(key, f'{"ab"[event["device"]]}{event["stream"]}')
    found = []
    wanted = [e for e in events if e.get('node_name') in nodes]
    for event in wanted:
        kind = event['event']
        if kind == 'buffer_add':
            found.append(event['stream_case'])
        elif kind == 'stream_record':
            found.append(f'record {stream(event)}')
        elif kind == 'stream_wait':
            found.append(f'{stream(event)} waits')
        elif kind == 'kernel':
            found.append(f'{event["name"]} on {stream(event)}')
        elif kind == 'node_begin':
            found.append('begins')
    return found[:found.index('begins') + 1] if 'begins' in found else found


def for_node(*nodes):
    return lambda events: steps(events, *nodes)


def ones(torch, device):
    return torch.ones(4, device=device)


def leaf(torch, device):
    return ones(torch, device).requires_grad_()


# Before PyTorch 2.8: cases 1 to 5.

@row('N-01', tape=for_node('MulBackward0'), expect=[2.0] * 4, expect_tape=['case_1', 'begins'], **OLD)
def case_1_on_the_cpu(torch):
    x = leaf(torch, 'cpu')
    (x * 2).sum().backward()
    return x.grad.tolist()


def chain_on(torch, stream=None, current=None):
    """exp(2 x) with mul on one stream and exp on another."""
    x = leaf(torch, 'sim:0')
    with torch.sim.stream(current):
        y = x * 2
    if stream:
        stream.wait_stream(current or torch.sim.default_stream('sim:0'))
    with torch.sim.stream(stream):
        z = y + 1
    z.backward(ones(torch, 'sim:0'))
    return x.grad.tolist()


@row('N-02', tape=for_node('MulBackward0'), expect=[2.0] * 4, expect_tape=['case_2', 'begins', ], **OLD)
def case_2_on_one_stream(torch):
    return chain_on(torch)


@row('N-03', tape=for_node('MulBackward0'), expect=[2.0] * 4,
     expect_tape=['record s', 'a0 waits', 'case_2', 'begins'], **OLD)
def case_2_on_two_streams(torch):
    """Also for the first gradient, and before it is stored."""
    return chain_on(torch, Streams(torch, s='a').s)


def across(torch, streams):
    """mul on a side stream of device 0, and the copy to device 1 on that one's default stream."""
    x = leaf(torch, 'sim:0')
    streams.s.wait_stream(torch.sim.default_stream('sim:0'))
    with streams.s:
        y = x * 2
        z = y.to('sim:1')
    z.backward(ones(torch, 'sim:1'))
    return x.grad.tolist()


@row('N-04', tape=for_node('MulBackward0'), expect=[2.0] * 4,
     expect_tape=['record a0', 's waits', 'case_3', 'begins'], **OLD)
def case_3_the_consumer_waits_for_the_default_stream(torch):
    return across(torch, Streams(torch, s='a'))


def two_outputs(torch, second):
    """A node whose stream is device 1's, for its first output, and that gets a gradient for its second, on device 0;
    second(output) makes it."""
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.to('sim:1'), x.clone()

        @staticmethod
        def backward(ctx, b, a):
            return a + b.to('sim:0')
    x = leaf(torch, 'sim:0')
    y = second(Both.apply(x)[1])
    y.backward(torch.ones(4, device=y.device))
    return x.grad.tolist()


def on_side(torch, stream):
    def second(output):
        stream.wait_stream(torch.sim.default_stream('sim:0'))
        with stream:
            return output * 2
    return second


@row('N-05', tape=for_node('BothBackward'), expect=[2.0] * 4,
     expect_tape=['record s', 'a0 waits', 'case_4', 'begins'], **OLD)
def case_4_the_default_stream_waits_for_the_producer(torch):
    return two_outputs(torch, on_side(torch, Streams(torch, s='a').s))


@row('N-06', tape=for_node('BothBackward'), expect=[1.0] * 4, expect_tape=['case_5', 'begins'], **OLD)
def case_5_nobody_waits(torch):
    return two_outputs(torch, lambda output: output.to('sim:1'))


def fan(torch, streams, *which):
    """x * 2, used once on each of the streams."""
    x = leaf(torch, 'sim:0')
    y = x * 2
    used = []
    for name in which:
        stream = streams.side.get(name)
        if stream:
            stream.wait_stream(torch.sim.default_stream('sim:0'))
        with torch.sim.stream(stream):
            used.append(y + 1)
    torch.autograd.backward(used, [ones(torch, 'sim:0') for _ in used])
    return x.grad.tolist()


@row('N-07', tape=for_node('MulBackward0'), expect=[4.0] * 4,
     expect_tape=['record s', 'a0 waits', 'case_2', 'add on a0', 'case_2', 'begins'], **OLD)
def sums_are_made_on_the_accumulation_stream(torch):
    """The one of them that is made: a slot's first gradient is only moved. One root on the device: a GraphRoot would run
    on the caller's thread, and which branch it hands to the device's thread in time is left to chance."""
    side, main = Streams(torch, s='a').s, torch.sim.default_stream('sim:0')
    x = leaf(torch, 'sim:0')
    y = x * 2
    a = y + 1
    side.wait_stream(main)
    with side:
        b = y + 1
    main.wait_stream(side)
    (a + b).backward(ones(torch, 'sim:0'))
    return x.grad.tolist()


# All versions.

def streams_of_kernels(events):
    """On which streams the kernels of the two products ran, in order: those of the forward pass have no node."""
    names = names_of(events)
    kernels = [e for e in of_kind(events, 'kernel') if e.get('node_name') == 'MulBackward0']
    return [names.get(f'{e["device"]}.{e["stream"]}', 'default') for e in kernels]


@row('N-08', tape=streams_of_kernels, expect=[8.0] * 4,
     expect_tape=['default', 's'], **NEW)
def a_node_runs_on_the_stream_that_it_was_built_on(torch):
    s = Streams(torch, s='a').s
    x = leaf(torch, 'sim:0')
    s.wait_stream(torch.sim.default_stream('sim:0'))
    with s:
        y = x * 2
    torch.sim.default_stream('sim:0').wait_stream(s)
    (y * 4).backward(ones(torch, 'sim:0'))
    return x.grad.tolist()


def joins(events):
    """Who waits at the end of a pass, after its last node: no node is what for."""
    names = names_of(events)
    last = max(i for i, e in enumerate(events) if e['event'] == 'node_begin')
    return [e['event'][len('stream_'):] + ' ' + names.get(f'{e["device"]}.{e["stream"]}', f'{"ab"[e["device"]]}{e["stream"]}')
            for e in events[last:] if e['event'] in ('stream_record', 'stream_wait') and e['node'] is None]


def leaf_on_a_stream(torch, streams, current):
    """A leaf whose node is on stream s."""
    torch.sim.synchronize('sim:0')
    with streams.s:
        x = leaf(torch, 'sim:0')
        y = x * 2
    with torch.sim.stream(current):
        y.backward(ones(torch, 'sim:0'))


def captured_on_a_stream(torch, streams, current):
    """A captured node on stream s."""
    torch.sim.synchronize('sim:0')
    x = leaf(torch, 'sim:0')
    with streams.s:
        y = x * 2
        z = y * 3
    with torch.sim.stream(current):
        torch.autograd.grad(z, y, ones(torch, 'sim:0'))


@row('N-09', tape=joins, expect=None, expect_tape=['record s', 'wait a0'], **NEW)
def a_leafs_stream_is_recorded(torch):
    leaf_on_a_stream(torch, Streams(torch, s='a'), None)


@row('N-09', tape=joins, expect=None, expect_tape=['record s', 'wait a0'], **NEW)
def a_captured_nodes_stream_is_recorded(torch):
    captured_on_a_stream(torch, Streams(torch, s='a'), None)


@row('N-10', tape=joins, expect=None, expect_tape=['record s', 'wait t'], **NEW)
def the_callers_current_stream_waits_for_leaves(torch):
    streams = Streams(torch, s='a', t='a')
    leaf_on_a_stream(torch, streams, streams.t)


@row('N-10', tape=joins, expect=None, expect_tape=['record s', 'wait t'], **NEW)
def the_callers_current_stream_waits_for_captured_nodes(torch):
    streams = Streams(torch, s='a', t='a')
    captured_on_a_stream(torch, streams, streams.t)


@row('N-11', tape=lambda events: len(of_kind(events, 'stream_record', 'stream_wait')), expect=[2.0] * 4, expect_tape=0, **NEW)
def a_pass_without_streams_joins_none(torch):
    x = leaf(torch, 'cpu')
    with Streams(torch, s='a').s:
        (x * 2).sum().backward()
    return x.grad.tolist()


# PyTorch 2.8 and later.

@row('N-12', tape=for_node('MulBackward0'), expect=[2.0] * 4, expect_tape=['case_a', 'begins'], **NEW)
def one_stream_needs_no_event(torch):
    return chain_on(torch)


@row('N-12', tape=lambda events: for_node('MulBackward0')(events)[:2], expect=[2.0] * 4, expect_tape=['record s', 'case_a'], **NEW)
def case_a_on_the_consumers_stream(torch):
    return chain_on(torch, Streams(torch, s='a').s)


@row('N-14', tape=for_node('MulBackward0'), expect=[2.0] * 4,
     expect_tape=['record s', 'case_a', 'a0 waits', 'begins'], **NEW)
def the_consumer_waits_when_it_is_evaluated(torch):
    return chain_on(torch, Streams(torch, s='a').s)


@row('N-12', tape=for_node('BothBackward'), expect=[2.0] * 4,
     expect_tape=['record s', 'case_b', 'b0 waits', 'begins'], **NEW)
def case_b_on_the_producers_stream(torch):
    return two_outputs(torch, on_side(torch, Streams(torch, s='a').s))


@row('N-12', tape=for_node('BothBackward'), expect=[1.0] * 4, expect_tape=['record b0', 'case_c', 'begins'], **NEW)
def case_c_on_the_current_stream_of_the_gradients_device(torch):
    """Producer and consumer are on the other device, on one stream: only a sum would have to wait."""
    return two_outputs(torch, lambda output: output.to('sim:1'))


@row('N-13', tape=for_node('MulBackward0'), expect=[6.0] * 4,
     expect_tape=['record t', 'case_a', 'record s', 'a0 waits', 'a0 waits', 'add on a0', 'case_a', 'add on a0', 'case_a',
                  'begins'], **NEW)
def later_producers_wait_twice_at_most(torch):
    """t comes first, as it was used last; then s, for which the sum waits for both; then the default stream, for none."""
    return fan(torch, Streams(torch, s='a', t='a'), 'a0', 's', 't')


MISMATCH = "The AccumulateGrad node's stream does not match the stream of the node that produced the incoming gradient."


@row('N-15', process=True, expect=[[True], []], **NEW)
def a_leafs_stream_that_does_not_match_is_warned_of_once(torch):
    s = torch.Stream('sim:0')
    x = leaf(torch, 'sim:0')
    kept = (x * 2).sum()  # keeps the leaf's node, which was made on the default stream
    s.wait_stream(torch.sim.default_stream('sim:0'))

    def texts():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            with s:
                (x + 3).sum().backward()
        return [str(w.message).startswith(MISMATCH) for w in caught]
    found = [texts(), texts()]
    del kept
    return found


@row('N-16', expect=[2.0] * 4, only='simulated devices capture no graphs of kernels: a consumer on the default stream is '
     'never in the way of one', devices='cpu,sim:2')
def a_default_stream_consumer_is_always_fine(torch):
    return chain_on(torch, torch.Stream('sim:0'))


@row('N-17', tape=for_node('MulBackward0'), expect=[2.0] * 4, expect_tape=['record s', 'case_a', 'a0 waits', 'begins'], **NEW)
def a_producer_without_a_stream_has_the_current_one(torch):
    s = Streams(torch, s='a').s
    x = leaf(torch, 'sim:0')
    y = (x * 2).to('cpu')
    s.wait_stream(torch.sim.default_stream('sim:0'))
    with s:
        y.sum().backward()
    return x.grad.tolist()
