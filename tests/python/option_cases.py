# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of options that are rarely given: what they change of values and gradients."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch import nn
from torch.nn import functional as F
from seen_cases import case, case_since_2, error_of, main

NUMBERS = torch.tensor([[1, 2, 2, 0], [3, 1, 2, 1]])
OFFSETS = torch.tensor([0, 3])


def table():
    return torch.linspace(-1, 1, 15).view(5, 3).requires_grad_()


def rounded(*tensors):
    """To four digits, without a sign of zero."""
    return [((1e4 * x.detach().double()).round() / 1e4 + 0.).tolist() for x in tensors]


def seen(value, *inputs):
    """A value and gradients."""
    seeds = torch.arange(1., value.numel() + 1, dtype=value.dtype).view(value.shape)
    return rounded(value, *torch.autograd.grad(value, inputs, seeds))


@case
def embedding_by_frequency():
    weight = table()
    return seen(F.embedding(NUMBERS, weight, padding_idx=0, scale_grad_by_freq=True), weight)


@case
def embedding_by_frequency_twice():
    weight = table()
    out = F.embedding(NUMBERS, weight, scale_grad_by_freq=True)
    seeds = torch.ones(2, 4, 3, requires_grad=True)
    grad, = torch.autograd.grad(out, weight, seeds, create_graph=True)
    return rounded(*torch.autograd.grad((grad * grad.detach()).sum(), seeds))


@case
def bags():
    told = []
    for mode in ('sum', 'mean', 'max'):
        for options in ({}, {'padding_idx': 2}, {'padding_idx': -4}, {'max_norm': 0.5},
                        {'include_last_offset': True, 'offsets': torch.tensor([0, 3, 8])}):
            weight = table()
            given = {'offsets': OFFSETS, **options}
            told.append(seen(F.embedding_bag(NUMBERS.view(-1), weight, mode=mode, **given), weight))
    return told


@case
def a_layer_of_bags():
    net = nn.EmbeddingBag(5, 3, padding_idx=2, mode='sum')
    with torch.no_grad():
        net.weight.copy_(table())
    return seen(net(NUMBERS), net.weight)


@case
def frequency_refused():
    return error_of(lambda: F.embedding(NUMBERS, table(), scale_grad_by_freq=True, sparse=True).sum().backward()) is not None


@case
def covariance():
    rows, told = torch.tensor([[1., 2, 4, 3], [3, 1, 0, 5]], requires_grad=True), []
    counts, weights = torch.tensor([1, 2, 1, 3]), torch.tensor([.5, 1, 2, .25])
    for options in ({}, {'fweights': counts}, {'aweights': weights}, {'fweights': counts, 'aweights': weights},
                    {'correction': 0, 'aweights': weights}):
        told.append(seen(torch.cov(rows, **options), rows))
    return [told, rounded(torch.cov(rows[0], fweights=counts)), error_of(lambda: torch.cov(rows, fweights=weights)) is not None]


@case
def pseudo_inverses():
    a = torch.tensor([[2., 0.5, 0], [9, 1e-3, 0.1], [0, 0.2, 1]], dtype=torch.float64, requires_grad=True)
    symmetric = (a + a.T).detach().requires_grad_()
    told = [seen(torch.linalg.pinv(a, **options), a) for options in ({}, {'atol': 0.5}, {'rtol': 0.2}, {'atol': 0.1, 'rtol': 0.01})]
    return [told, rounded(torch.linalg.pinv(a, hermitian=True)), seen(torch.linalg.pinv(symmetric, hermitian=True), symmetric),
            rounded(torch.linalg.matrix_rank(a, hermitian=True), torch.linalg.matrix_rank(a, atol=1.))]


@case
def triangles():
    a = torch.tensor([[2., 1], [4, 3]])
    packed = torch.linalg.lu_factor(a)
    return [error_of(lambda: torch.linalg.lu(a, pivot=False)) is not None, rounded(*torch.lu_unpack(*packed, unpack_data=False)),
            rounded(*torch.lu_unpack(*packed, unpack_pivots=False))]


@case
def errors_of_matrices():
    singular = torch.zeros(2, 2)
    told = []
    for call in (torch.linalg.inv_ex, torch.linalg.cholesky_ex, lambda a, **options: torch.linalg.solve_ex(a, a, **options)):
        told += [error_of(lambda: call(singular)), error_of(lambda: call(singular, check_errors=True)) is not None]
    return told


@case
def values_alone():
    return rounded(*torch.svd(torch.tensor([[2., 1], [4, 3]]), compute_uv=False))


@case
def diagonals():
    tall, wide, cube = (torch.zeros(*shape, requires_grad=True) for shape in ((8, 3), (2, 5), (3, 3, 3)))
    told = []
    for x, wrap in ((tall, False), (tall, True), (wide, True), (cube, False)):
        told.append(seen((x * 1).fill_diagonal_(4., wrap=wrap), x))
    return [told, error_of(lambda: torch.zeros(2, 3, 2).fill_diagonal_(1)), error_of(lambda: torch.zeros(2).fill_diagonal_(1)) is not None]


@case_since_2
def hints_without_masks():
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 1, enable_nested_tensor=False)
    return error_of(lambda: layer(torch.ones(1, 3, 4), is_causal=True))


@case
def closeness():
    check, x = torch.testing.assert_close, torch.arange(6.).view(2, 3)
    turned = x.t().contiguous().t()
    return [error_of(lambda: check(x, turned)), error_of(lambda: check(x, turned, check_stride=True)),
            error_of(lambda: check(x, nn.Parameter(x), allow_subclasses=False)) is not None]


@case
def other_layouts():
    """Refused, or what PyTorch makes; never dense ones that only look like it."""
    def make():
        assert torch.zeros(2, layout=torch.sparse_coo).layout == torch.sparse_coo
    told = error_of(make)
    return told is None or told.startswith('NotImplementedError')


main()
