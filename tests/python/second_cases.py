# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: derivatives under create_graph, of the first and second order, and the nodes above the first."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch.nn import functional as F
from seen_cases import case_since_2, main

DOUBLE = torch.float64

ROWS = '''
F.mse_loss(n, t) | F.mse_loss(n, t, reduction='none') | F.mse_loss(n, b, reduction='sum') | F.smooth_l1_loss(n, t) | F.smooth_l1_loss(n, b, beta=.5, reduction='none')
F.huber_loss(n, t) | F.huber_loss(n, b, delta=.7, reduction='sum') | F.huber_loss(n, b, reduction='none') | F.binary_cross_entropy(a, t) | F.binary_cross_entropy(a, b)
F.binary_cross_entropy_with_logits(n, b) | F.binary_cross_entropy_with_logits(n, b, pos_weight=w) | F.binary_cross_entropy_with_logits(n, t, weight=w, reduction='none')
F.nll_loss(n, c) | F.nll_loss(n, c, reduction='none') | F.nll_loss(n, c, weight=w) | F.nll_loss(q, i % 3) | F.cross_entropy(n, c) | F.cross_entropy(n, c, label_smoothing=.1)
F.cross_entropy(n, t) | F.cross_entropy(q, i % 3) | F.cross_entropy(n, c, ignore_index=3) | F.soft_margin_loss(n, g) | F.soft_margin_loss(n, g, reduction='none')
F.softmax(n, 1) | F.log_softmax(n, 1) | F.silu(n) | F.mish(n) | F.prelu(n, p) | F.prelu(n, p[:1]) | F.rrelu(n) | F.glu(n) | F.gelu(n) | F.elu(n) | F.softplus(n) | F.hardswish(n)
n.masked_fill(mask, 1.) | a.log1p() | n.atan() | a.asin() | n.std() | n.std(1) | n.var(1) | n.norm() | n.norm(3) | n.norm(2, dim=1) | n.logsumexp(1) | a.prod(1)
F.adaptive_max_pool2d(x, 3) | F.interpolate(x, scale_factor=2) | F.interpolate(x, scale_factor=2, mode='bilinear') | F.pixel_shuffle(x, 2) | F.unfold(x, (2, 3), padding=1, stride=2)
F.fold(x[:, :, 0, :2], (2, 3), 2) | F.max_pool3d(v, 2) | F.avg_pool3d(v, 2, 1, 1, True, False) | F.conv3d(v, k) | F.conv3d(v, k, p[:2], 2, 1) | F.conv_transpose3d(v, k, p[:2], 2, 1, 1)
F.grid_sample(x, places, align_corners=False) | F.grid_sample(x, places, 'bilinear', 'border', True) | F.grid_sample(x, places, 'nearest', 'reflection', False) | F.grid_sample(x, places, 'bicubic', 'zeros', False)
F.affine_grid(theta, (2, 1, 2, 3), align_corners=False) | torch.linalg.inv(s) | torch.linalg.det(s) | torch.linalg.slogdet(s)[1] | torch.linalg.solve(s, a) | torch.linalg.solve(s, a[:, 0])
torch.linalg.cholesky(s @ s.mT) | torch.linalg.solve_triangular(s, a, upper=True) | torch.linalg.svdvals(a) | torch.linalg.eigvalsh(s @ s.mT) | torch.linalg.pinv(s) | torch.linalg.cross(a[:, :3], b[:, :3])
'''


def numbers(*size, low=0.2, high=0.9):
    """Numbers between low and high, all different, in no order."""
    n = torch.Size(size).numel()
    return torch.tensor([low + (high - low) * ((i * 11 + 3) % (2 * n + 1)) / (2 * n + 1) for i in range(n)], dtype=DOUBLE).view(*size)


def operands():
    leaves = {'n': numbers(3, 4, low=-2.1, high=1.9), 'a': numbers(3, 4), 'b': numbers(3, 4, low=.15, high=.95), 'p': numbers(4, low=.1),
              'q': numbers(2, 3, 4, low=-1), 's': numbers(3, 3) + torch.eye(3, dtype=DOUBLE), 'x': numbers(2, 4, 6, 6, low=-2),
              'v': numbers(2, 2, 4, 4, 4, low=-2), 'k': numbers(2, 2, 2, 2, 2, low=-1), 'theta': numbers(2, 2, 3, low=-1),
              'places': numbers(2, 3, 5, 2, low=-1.7, high=1.6)}
    for leaf in leaves.values():
        leaf.requires_grad_()
    fixed = {'t': numbers(3, 4, low=.15, high=.95), 'g': (numbers(3, 4) > 0.5).to(DOUBLE) * 2 - 1, 'c': torch.tensor([0, 3, 1]),
             'w': numbers(4, low=.3), 'i': torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2]]), 'mask': torch.tensor([[True, False, True, False]] * 3)}
    return leaves, fixed


def tree(node, found):
    """(name, edges) of each node below, numbered in the order in which a walk meets them."""
    if node is None:
        return None
    if node not in found:
        found[node] = [len(found)]
        name = node.name().split('::')[-1]
        found[node] += [name, [(tree(below, found), number) for below, number in node.next_functions]]
    return found[node][0]


def rounded(tensor):
    return None if tensor is None else [float(f'{round(value, 9):.5g}') + 0.0 for value in tensor.detach().flatten().tolist()]


def see(row):
    leaves, fixed = operands()
    result = eval(row, {'torch': torch, 'F': F, **leaves, **fixed})
    outer = (numbers(*result.shape) if result.dim() else torch.tensor(.7, dtype=DOUBLE)).requires_grad_()
    firsts = torch.autograd.grad(result, list(leaves.values()), outer, create_graph=True, allow_unused=True)
    seen, total = [], 0
    for name, first in zip(leaves, firsts):
        if first is not None:
            found = {}
            tree(first.grad_fn, found)
            seen.append((name, rounded(first), [node[1:] for node in found.values()]))
            total = total + (first * numbers(*first.shape, low=-1)).sum()
    seconds = torch.autograd.grad(total, [*leaves.values(), outer], allow_unused=True)
    return seen, [rounded(second) for second in seconds]


def make(row):
    def function():
        return see(row)
    function.__name__ = row
    case_since_2(function)


for line in ROWS.strip().splitlines():
    for one in line.split(' | '):
        make(one)

if __name__ == '__main__':
    main()
