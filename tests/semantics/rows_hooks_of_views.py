# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hooks of views whose grad_fn was made anew. PyTorch 2.13 crashes if the first hook of a view comes after a write that nobody
has looked at. So no row here does that."""
from harness import row

FIRST = {'nothing': lambda view: None, 'look': lambda view: view.grad_fn, 'retain': lambda view: view.retain_grad(),
         'hook': lambda view: view.register_hook(lambda grad: grad * 3),
         'removed hook': lambda view: view.register_hook(lambda grad: grad * 3).remove()}


def gradient(torch, first, write, second):
    """The gradient of the base's leaf, and who was called."""
    called, x = [], torch.tensor([1., 2.], requires_grad=True)
    base = x * 1
    view = base[:1]
    FIRST[first](view)
    write(base, view)
    for name, factor in second:
        view.register_hook(lambda grad, name=name, factor=factor: (called.append(name), grad * factor)[1])
    view.sum().backward()
    return [x.grad.tolist(), called]


def write_base_and_look(base, view):
    base.mul_(2)
    assert view.grad_fn.name() == 'AsStridedBackward0'


@row('H-18', in_1_13='all Python hooks of a tensor are on the node of the first')
def hooks_after_the_new_grad_fn(torch):
    """They are called, also if the view had hooks on its old node."""
    return [gradient(torch, first, write, second) for first in FIRST
            for write in (write_base_and_look, lambda base, view: view.mul_(2))
            for second in ([('second', 10)], [('second', 10), ('third', 7)])]


@row('H-18', **dict.fromkeys(('in_1_13', 'in_2_13'), 'a later hook of a view is where the earlier ones are'))
def hooks_before_the_new_grad_fn(torch):
    """If nobody asked for the new grad_fn, later hooks join the earlier ones on the old node until 2.13. Since 2.15
    register_hook asks for it."""
    return [gradient(torch, first, lambda base, view: base.mul_(2), [('second', 10)]) for first in ('hook', 'removed hook')]
