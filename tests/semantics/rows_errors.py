# SPDX-License-Identifier: LGPL-2.1-or-later
"""J: errors in a pass, as the engine handles them. Texts of Python functions are in rows_error_texts.py."""
from harness import of_kind, row, text_of


def boom(torch, message='boom'):
    """A function whose backward raises."""
    class Boom(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError(message)
    return Boom.apply


def two_failing(torch, x):
    """A sum of a node that works and two that fail, of which the one that is built last runs first."""
    works, first, second = x * 1, boom(torch, 'first')(x), boom(torch, 'second')(x)
    return (works + second) + first


def left_over(events):
    """The tasks outstanding when each pass ends, and how it ends."""
    last, found = {}, []
    for event in of_kind(events, 'outstanding', 'graph_task_end'):
        if event['event'] == 'outstanding':
            last[event['graph_task']] = event['value']
        else:
            found.append([last[event['graph_task']], event['status']])
    return found


def failed_pass(torch):
    """The leaf of a pass that failed, and the text of its error."""
    x = torch.ones(1, requires_grad=True)
    return x, text_of(lambda: two_failing(torch, x).backward())


@row('J-01', expect='RuntimeError: second')
def the_first_error_wins(torch):
    return failed_pass(torch)[1]


@row('J-02', tape=left_over, expect='RuntimeError: second', expect_tape=[[2, 'error']])
def ready_tasks_stay_behind(torch):
    return failed_pass(torch)[1]


@row('J-03', tape=left_over, expect=[[3.0], [3.0]], expect_tape=[[2, 'error'], [0, 'ok']])
def the_next_pass_drops_them(torch):
    failed_pass(torch)
    y = torch.ones(1, requires_grad=True)
    (y * 3).backward()
    return [y.grad.tolist(), (y.grad * 1).tolist()]


@row('J-04', expect=['RuntimeError: second', True])
def nothing_is_stored_after_the_error(torch):
    x, text = failed_pass(torch)
    return [text, x.grad is None]


@row('J-05')
def what_a_failed_pass_releases(torch):
    """The nodes above the failing one let go of what they saved; it and those below it do not."""
    fails, x = [True], torch.ones(1, requires_grad=True)

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if fails:
                raise RuntimeError('once')
            return g * ctx.saved_tensors[0]
    lower = x.exp()
    middle = Once.apply(lower)
    upper = middle.exp()
    found = [text_of(lambda: upper.backward()), text_of(lambda: upper.backward())]
    fails.clear()
    middle.backward()
    return found + [x.grad.tolist()]


def nest(torch, inner, catches):
    """A function whose backward runs the pass `inner`, and may catch its error."""
    class Nest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                if not catches:
                    inner()
                elif text_of(inner) is None:
                    raise AssertionError('nothing to catch')
            return g
    return Nest.apply


def statuses(events):
    return [event['status'] for event in of_kind(events, 'graph_task_end')]


@row('J-12', tape=statuses, expect=['RuntimeError: second', True, None], expect_tape=['error', 'error', 'ok'])
def an_error_goes_up_through_the_outer_node(torch):
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    text = text_of(lambda: nest(torch, lambda: two_failing(torch, y).backward(), False)(x).backward())
    return [text, x.grad is None, text_of(lambda: (x * 2).backward())]


@row('J-13', tape=statuses, expect=[[1.0], True, [3.0]], expect_tape=['error', 'ok', 'ok'])
def a_node_may_catch_it(torch):
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    nest(torch, lambda: two_failing(torch, y).backward(), True)(x).backward()
    stored, nothing_stored = x.grad.tolist(), y.grad is None
    (x * 2).backward()
    return [stored, nothing_stored, x.grad.tolist()]
