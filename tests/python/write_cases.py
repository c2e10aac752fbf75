# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where elements lie, what writes in place leave, and functions whose gradients several elements share. Both engines must
see the same."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch.autograd import forward_ad
from torch.utils import checkpoint as checkpoints
from seen_cases import case, case_since_2, main


def text_of(call):
    """The first line of the error, or what the call gave."""
    try:
        return call()
    except Exception as problem:
        return f'{type(problem).__name__}: {(str(problem).splitlines() or [""])[0]}'


def words_of(call):
    """The text of the error alone: the class of some errors is another one since 2.15."""
    return text_of(call).partition(': ')[2]


def name_of(tensor):
    return tensor.grad_fn and type(tensor.grad_fn).__name__


def image():
    return torch.arange(48.).reshape(2, 2, 3, 4)


FORMATS = ('preserve_format', 'contiguous_format', 'channels_last')


@case
def memory_formats():
    """Which copies are made, how they lie, and the nodes they have."""
    last = image().contiguous(memory_format=torch.channels_last)
    found = []
    for x in (image(), last, image()[:, :1]):
        for name in FORMATS:
            kind = getattr(torch, name)
            for make in (lambda: x.contiguous(memory_format=kind), lambda: x.clone(memory_format=kind),
                         lambda: x.to(memory_format=kind)):
                found.append(text_of(lambda: [make().stride(), make() is x, make().tolist() == x.tolist()]))
        found.append([x.is_contiguous(), x.is_contiguous(memory_format=torch.channels_last), repr(torch.channels_last)])
    found.append([text_of(lambda: torch.ones(2, 3).contiguous(memory_format=torch.channels_last)),
                  torch.ones(2, 2, 2, 2, 2).contiguous(memory_format=torch.channels_last_3d).stride()])
    return found


@case
def nodes_of_memory_formats():
    x = image().requires_grad_()
    results = [x.contiguous(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last), x.contiguous()]
    results[0].square().sum().backward()
    return [[name_of(r) for r in results], x.grad.tolist(), x.grad.stride()]


@case
def results_are_no_views():
    """What an operation only rearranges on its way is no view for the program. So it may be written into."""
    x = torch.tensor([[1., 2.], [3., 5.]], requires_grad=True)
    kinds = [lambda x: x.norm(2, 0), lambda x: x.logsumexp(0), lambda x: x.std(0), lambda x: torch.var_mean(x, dim=0)[0],
             lambda x: x.max(0)[0], lambda x: x.median(0)[0], lambda x: x.median(), lambda x: x.kthvalue(1, 0)[0],
             lambda x: x.roll(1), lambda x: x.argmax(0), lambda x: torch.nn.functional.embedding(torch.tensor([[0]]), x)]
    found = []
    for kind in kinds:
        y = kind(x)
        found.append([y._is_view(), y.mul_(2).tolist(), name_of(y)])
    return found


@case
def comparisons_in_place():
    x = torch.tensor([1., 2., 3.], requires_grad=True)
    found = []
    for name in ('eq_', 'ne_', 'lt_', 'le_', 'gt_', 'ge_'):
        for other in (2, torch.tensor([1., 5., 3.])):
            y = x * 1
            getattr(y, name)(other)
            found.append([y.tolist(), name_of(y), y._version, torch.autograd.grad(y.sum(), x)[0].tolist()])
    z = torch.tensor([1., 2.], requires_grad=True)
    y = x.new_ones(2)
    y.gt_(z)
    y.sum().backward()
    return [found, z.grad.tolist(), text_of(lambda: x.eq_(1)), torch.arange(3).lt_(1).tolist()]


@case
def unsafe_splits():
    """Their pieces share memory, and yet may be written into."""
    found = []
    for cut in (lambda t: t.unsafe_split(1), lambda t: t.unsafe_split_with_sizes((1, 2)), lambda t: t.unsafe_chunk(3)):
        x = torch.arange(9.).reshape(3, 3).requires_grad_()
        base = x + x
        pieces = cut(base)
        found.append([name_of(pieces[0]), [p._is_view() for p in pieces]])
        pieces[0].mul_(pieces[1][:1])
        pieces[0].sum().backward()
        found.append([x.grad.tolist(), base.tolist()])
    return found


@case
def nanmedian():
    nan, found = float('nan'), []
    for numbers in ([1., 0., 1., 0., 1., 0.], [nan, nan, nan], [3., nan, 1., 2.], [nan, 4.]):
        x = torch.tensor(numbers, requires_grad=True)
        y = x.nanmedian()
        y.backward()
        found.append([str(y.item()), x.grad.tolist(), name_of(y)])
    x = torch.tensor([[3., nan, 1.], [nan, nan, nan]], requires_grad=True)
    values, indices = torch.nanmedian(x, 1)
    values.sum().backward()
    return [found, str(values.tolist()), indices[:1].tolist(), name_of(values), x.grad[:1].tolist()]


def reduced(function, index, reduce, include_self, numbers):
    x = torch.tensor([[1., 2., 3.], [0., 5., 3.]], dtype=torch.float64, requires_grad=True)
    source = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    y = function(x, 0, torch.tensor(index), source, reduce, include_self=include_self)
    (y * torch.arange(1., 7., dtype=torch.float64).view(2, 3)).sum().backward()
    return [y.tolist(), x.grad.tolist(), source.grad.tolist(), name_of(y)]


@case
def scatter_reduce():
    """Equal extremes share the gradient; of a product with one zero only that zero has one."""
    numbers = [[1., 7., 3.], [0., 5., 3.], [2., 5., 4.]]
    return [reduced(torch.scatter_reduce, index, reduce, include_self, numbers)
            for reduce in ('sum', 'prod', 'mean', 'amax', 'amin') for include_self in (True, False)
            for index in ([[0, 1, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 1], [1, 0, 0], [0, 1, 1]])]


@case
def index_reduce():
    numbers = [[1., 7., 3.], [0., 5., 3.], [2., 5., 4.]]
    return [reduced(torch.index_reduce, index, reduce, include_self, numbers)
            for reduce in ('prod', 'mean', 'amax', 'amin') for include_self in (True, False)
            for index in ([0, 1, 0], [1, 1, 1])]


@case_since_2
def scatter_reduce_in_place():
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    y.scatter_reduce_(0, torch.tensor([1, 1]), torch.tensor([3., 9.]), 'amax')
    y.sum().backward()
    return [y.tolist(), x.grad.tolist(), y._version,
            text_of(lambda: torch.ones(1).scatter_reduce(0, torch.tensor([0]), torch.ones(1), 'least'))]


@case
def without_derivative():
    """They have nodes that only say so."""
    x = torch.tensor([2., 1., 2.], requires_grad=True)
    found = [[name_of(y), y.tolist(), text_of(lambda: y.sum().backward())]
             for y in (torch.unique(x), torch.unique(x, dim=0), torch.unique_consecutive(x), torch._unique2(x)[0])]
    return [found, torch.unique(torch.tensor([1, 1])).requires_grad]


@case_since_2
def set_and_resize():
    x = torch.arange(6.).reshape(2, 3)
    y, z = x.t(), torch.arange(4.)
    z.set_(x)
    versions = [z._version, z.tolist()]
    y.resize_(4)
    x.resize_(1, 2)
    z.resize_(2, 3)  # (no other sizes)
    grown = torch.tensor([1., 2.]).resize_(3)[:2]
    leaf = torch.ones(2, requires_grad=True)
    out = leaf * 1
    with torch.no_grad():
        leaf.set_(torch.zeros(3))
    return [versions, y.tolist(), [y._version, x._version, z._version], grown.tolist(),
            text_of(lambda: torch.autograd.grad(out.sum(), leaf)), text_of(lambda: leaf.set_(z)),
            text_of(lambda: leaf.resize_(1)), z.set_().shape]


@case
def new_of_a_size():
    return [torch.ones(2).new(torch.Size([2, 3])).shape, torch.ones(2).new(torch.Size([])).shape, torch.ones(2).new([3]).tolist()]


@case
def hooks_attribute():
    x = torch.ones(1, requires_grad=True)
    before = x._backward_hooks
    x.register_hook(lambda g: g)
    y = x * 2
    y.register_hook(lambda g: g)

    def delete():
        del x._backward_hooks
    return [before, len(x._backward_hooks), len(y._backward_hooks), text_of(delete)]


@case
def numpy_without_grad_mode():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        array = x.numpy()
    return [array.tolist(), text_of(lambda: x.numpy())]


class AsIs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Named(torch.Tensor):
    pass


@case_since_2
def function_returns_its_input():
    """A class of the program stays one. What was saved is gone after backward."""
    y = AsIs.apply(torch.ones(2, requires_grad=True))
    y.sum().backward()
    named = torch.ones(2).as_subclass(Named)
    return [type(AsIs.apply(named)).__name__, AsIs.apply(named) is named, text_of(lambda: y.grad_fn._raw_saved_tensors)]


@case
def complex_parts():
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    pairs = torch.view_as_real(x)
    whole = torch.view_as_complex(torch.ones(2, 2, requires_grad=True))
    (x.real * 2 + x.imag * 3).sum().backward()
    return [pairs.tolist(), name_of(pairs), name_of(whole), [str(g) for g in x.grad.tolist()], name_of(x.real),
            pairs._base is x, words_of(lambda: torch.ones(1).imag), words_of(lambda: torch.view_as_real(torch.ones(1))),
            words_of(lambda: torch.view_as_complex(torch.ones(3)))]


@case
def writes_through_parts():
    """A write into the parts is one into the complex numbers, and the other way round."""
    leaf = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    x = leaf * 1
    x.real.mul_(3)
    view = x.imag
    x.mul_(2)
    with torch.no_grad():
        view.grad_fn
    (view.sum() + x.real.sum()).backward()
    return [[str(n) for n in x.tolist()], name_of(x), [str(n) for n in leaf.grad.tolist()], x._version]


@case
def gradients_of_real_numbers_beside_complex_ones():
    """They are real."""
    x, z = torch.tensor([1., 2.], requires_grad=True), torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    found = []
    for y in (x + z, x * z, z - x, x / z, torch.complex(x, x * 2)):
        gradients = torch.autograd.grad(y.real.sum() + (y.imag * 3).sum(), [x, z], allow_unused=True)
        found.append([None if g is None else [str(g.dtype), [f'{n:.5f}' for n in g.tolist()]] for g in gradients])
    return found


@case
def random_complex_numbers():
    torch.manual_seed(0)
    return [[str(n) for n in make(9, dtype=dtype).tolist()] for make in (torch.rand, torch.randn)
            for dtype in (torch.complex64, torch.complex128)]


@case_since_2
def tangents_in_print():
    w = torch.tensor([2.], requires_grad=True)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([1., 2.]), torch.tensor([.5, 1.]))
        return [str(x), str(x * 2), str(x[0]), str(forward_ad.unpack_dual(x).primal), 'tangent=' in str(x * w),
                text_of(lambda: torch.add(x, x, out=torch.ones(2))), text_of(lambda: torch.add(x.new_ones(2), 1, out=x))]


@case_since_2
def tangents_in_memory():
    """A tangent lies as its tensor does, and goes when the dual tensor goes."""
    x, t = torch.arange(5.)[:4].detach(), torch.ones(4)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        tangent = forward_ad.unpack_dual(dual).tangent
        tangent *= 2
        other = forward_ad.make_dual(torch.ones(4), t)
        copied = torch.zeros(4)
        copied.copy_(other)
        of_copy = forward_ad.unpack_dual(copied).tangent
        found = [t.tolist(), forward_ad.unpack_dual(other).tangent is t, of_copy is t, of_copy.tolist()]
        last = torch.ones(2, requires_grad=True)
        gone = torch._C._WeakTensorRef(last)
        dual = forward_ad.make_dual(torch.ones(2), last)
        del last
        found.append(gone.expired())
        del dual
        return [*found, gone.expired()]


class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        kept.append(torch._C._autograd._get_current_graph_task_keep_graph())
        return gradient


kept = []


@case_since_2
def does_the_pass_keep_the_graph():
    y = Keeps.apply(torch.ones(1, requires_grad=True))
    y.backward(retain_graph=True)
    y.backward()
    return kept


def changing(first, second):
    """A function that does `first` when it is called first, and `second` from then on."""
    calls = []
    return lambda x: (calls.append(x), (first if len(calls) == 1 else second)(x))[1]


@case_since_2
def checkpoints_that_explain():
    def first_line(debug, everywhere=None):
        x = torch.ones(1, requires_grad=True)
        function = changing(lambda x: x.sin().exp(), lambda x: x.sin() * torch.tensor([1., 2.]))
        try:
            with checkpoints.set_checkpoint_debug_enabled(everywhere):
                checkpoints.checkpoint(function, x, use_reentrant=False, debug=debug).sum().backward()
        except checkpoints.CheckpointError as problem:
            text = str(problem)
            return [text.splitlines()[0], 'You are seeing this error because you passed `debug=True` to checkpoint' in text]
    return [first_line(False), first_line(True), first_line(False, True), first_line(True, False)]


@case
def data_parallel():
    """Without devices it is the module itself."""
    layer = torch.nn.Linear(2, 2, bias=False)
    parallel = torch.nn.DataParallel(layer)
    x = torch.ones(1, 2)
    return [parallel(x).tolist() == layer(x).tolist(), [name for name, _ in parallel.named_parameters()], parallel.module is layer]


main()
