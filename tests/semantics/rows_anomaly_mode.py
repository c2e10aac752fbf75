# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows Q: anomaly mode."""
import contextlib
import gc
import io
import threading
import warnings
import weakref

from harness import row, text_of

NAN_TEXT = "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output."


def warned(call):
    """What a call raised, and the first line of each warning; behind it 'shows X' where the traceback that follows shows a
    line of this file that calls X."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always')
        text = text_of(call)
    told = []
    for warning in caught:
        lines = [line for line in str(warning.message).split('\n') if line.strip()]
        shown = [mark for mark in ('made_here', 'induced_here') if any(mark in line for line in lines[1:])]
        told.append(' '.join([lines[0].split(' (Triggered')[0]] + [f'shows {mark}' for mark in shown]))
    return [text, told]


def made_here(x):
    return x.sqrt().sum()


def induced_here(function, x):
    return function.apply(x).sum()


def minus_one(torch):
    return torch.full((1,), -1., requires_grad=True)


@row('Q-01', expect=NAN_TEXT)
def nan_is_an_error(torch):
    with torch.autograd.set_detect_anomaly(True):
        made_here(minus_one(torch)).backward()


@row('Q-01', expect="RuntimeError: Function 'MulBackward0' returned nan values in its 1th output.")
def which_output_has_it(torch):
    x = torch.full((1,), float('inf'))
    y = torch.zeros(1, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True):
        (x * y).backward(torch.zeros(1))


@row('Q-02', expect=[NAN_TEXT, ['Error detected in SqrtBackward0. Traceback of forward call that caused the '
                                              'error: shows made_here']])
def forward_traceback(torch):
    def run():
        with torch.autograd.set_detect_anomaly(True):
            made_here(minus_one(torch)).backward()
    return warned(run)


@row('Q-03')
def forward_outside(torch):
    loss = made_here(minus_one(torch))

    def run():
        with torch.autograd.set_detect_anomaly(True):
            loss.backward()
    return warned(run)


@row('Q-04')
def induced_by(torch):
    class F1(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            with torch.enable_grad():
                made_here(x.detach().requires_grad_()).backward()
            return grad

    def run():
        with torch.autograd.set_detect_anomaly(True):
            induced_here(F1, minus_one(torch)).backward()
    return warned(run)


@row('Q-05')
def no_check_nan(torch):
    seen = []

    def note():
        seen.append([torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()])
    note()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        note()
        x = minus_one(torch)
        y = x.sqrt()
        y.backward()
        seen.append([str(x.grad.item()), sorted(y.grad_fn.metadata)])
        with torch.autograd.detect_anomaly():
            note()
            with torch.autograd.set_detect_anomaly(False):
                note()
            note()
        note()
    note()
    return seen


@row('Q-06', expect='nan')
def leaf_is_not_checked(torch):
    with torch.autograd.set_detect_anomaly(True):
        x = torch.ones(1, requires_grad=True)
        x.backward(torch.full((1,), float('nan')))
    return str(x.grad.item())


@row('Q-07')
def first_error_alone(torch):
    """A second error, while the first passes through the node around it, is another pass's."""
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError('first')

    def run():
        with torch.autograd.set_detect_anomaly(True):
            x = minus_one(torch)
            a, b = Twice.apply(x), Twice.apply(x)
            (a + b).backward()
    return warned(run)


@row('Q-08')
def metadata_keys(torch):
    x = torch.ones(1, requires_grad=True)
    outside = (x * 2).grad_fn
    with torch.autograd.set_detect_anomaly(True):
        y = (x * x).sum()
        grad, = torch.autograd.grad(y, x, create_graph=True)
        z = torch.ones(1, requires_grad=True) * 2
    made = grad.grad_fn.metadata
    made['mine'] = 5
    return [sorted(outside.metadata), sorted(y.grad_fn.metadata), sorted(grad.grad_fn.metadata),
            made['parent_'].name(), made['parent_'] is y.grad_fn.next_functions[0][0],
            type(made['traceback_']).__name__, all(isinstance(line, str) for line in made['traceback_']),
            grad.grad_fn.metadata['mine'], sorted(z.grad_fn.next_functions[0][0].metadata)]


@row('Q-09', expect=[NAN_TEXT, True])
def warnings_are_errors(torch):
    said = io.StringIO()
    with torch.autograd.set_detect_anomaly(True):
        loss = made_here(minus_one(torch))
        with warnings.catch_warnings(), contextlib.redirect_stderr(said):
            warnings.simplefilter('error')
            text = text_of(loss.backward)
    return [text, 'Error detected in SqrtBackward0' in said.getvalue()]


@row('Q-10', expect=[True, True, True, True])
def parents_do_not_leak(torch):
    class Mark:
        pass

    def make():
        x = torch.ones(2, requires_grad=True)
        first, = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        marks = [Mark(), Mark()]
        first.grad_fn.metadata['mark'] = marks[0]
        second, = torch.autograd.grad((first * first).sum(), x, create_graph=True)
        second.grad_fn.metadata['mark'] = marks[1]
        return second, [weakref.ref(mark) for mark in marks]

    with torch.autograd.set_detect_anomaly(True):
        second, refs = make()
        alive = [ref() is not None for ref in refs]
        del second
        gc.collect()
        return alive + [ref() is None for ref in refs]


@row('Q-11')
def process_wide(torch):
    """It holds for other threads too, and says what it costs."""
    seen = []

    def other():
        seen.append([torch.is_anomaly_enabled(), text_of(lambda: minus_one(torch).sqrt().backward())])

    def run():
        with torch.autograd.detect_anomaly():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    told = warned(run)
    return [told[0], told[1][0], seen, torch.is_anomaly_enabled()]


@row('Q-12', expect=['ZeroDivisionError: division by zero', [
    'Error detected in MulBackward0. Traceback of forward call that caused the error: shows made_here']])
def other_errors_too(torch):
    def made_here(x):
        return x * 3

    def run():
        with torch.autograd.set_detect_anomaly(True):
            y = made_here(torch.ones(1, requires_grad=True))
            y.register_hook(lambda grad: 1 / 0)
            y.backward()
    return warned(run)


def stacks_of(events):
    """The last line of each node's forward stack on Tapedeck's tape, as 'function name'."""
    made = [event for event in events if event['event'] == 'node_new' and event.get('stack')]
    return [[event['name'], event['stack'].split('\n')[-1].split(' ')[-1]] for event in made]


@row('Q-02', only='a tape of PyTorch has stacks by record --stacks', tape=stacks_of,
     expect_tape=[['AccumulateGrad', 'made_here'], ['SqrtBackward0', 'made_here'], ['SumBackward0', 'made_here']])
def stacks_on_tape(torch):
    with torch.autograd.set_detect_anomaly(True):
        loss = made_here(torch.ones(1, requires_grad=True))
    assert loss.grad_fn.metadata['traceback_']
    return None
