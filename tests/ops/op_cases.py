# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that compare_ops.py runs on each engine: every operation of a table, on sample arguments.

    op_cases.py OUT.json

For each row: the value, the gradients of the arguments, the tree of nodes above them with their edges, or the text of the
error; and how far the gradients are from finite differences (of first and second order).
"""
import json
import sys
import warnings

import torch
from torch.nn import functional as F

warnings.simplefilter('ignore')
DOUBLE = torch.float64


def numbers(*size, low=0.2, high=0.9):
    """Numbers between low and high, all different, in no order."""
    n = 1
    for s in size:
        n *= s
    return torch.tensor([low + (high - low) * ((i * 11 + 3) % (n * 2 + 1)) / (n * 2 + 1) for i in range(n)],
                        dtype=DOUBLE).view(*size) if size else torch.tensor(low, dtype=DOUBLE)


# The arguments that the expressions name; a, b, ... are leaves that want gradients.
def arguments():
    shapes = {'a': (3, 4), 'b': (3, 4), 'm': (4, 2), 'v': (4,), 'w': (4,), 'p': (2, 3, 4), 'q': (2, 4, 5), 's': (),
              'n': (3, 4), 'table': (5, 2), 'places': (1, 3, 2, 2)}
    ranges = {'b': (0.15, 0.95), 'n': (-2.1, 1.9), 'p': (-1, 1), 'q': (-1.2, 1), 'places': (-1.35, 1.27)}
    values = {name: numbers(*size, low=ranges.get(name, (0.2, 0.9))[0], high=ranges.get(name, (0.2, 0.9))[1]).requires_grad_()
              for name, size in shapes.items()}
    values['square'] = (numbers(3, 3) + torch.eye(3, dtype=DOUBLE)).requires_grad_()
    values.update(i=torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2]]), j=torch.tensor([0, 2]), k=torch.tensor([1, 3, 1]),
                  weights=numbers(4, low=0.3), mask=torch.tensor([[True, False, True, False]] * 3), classes=torch.tensor([0, 3, 1]),
                  ignored=torch.tensor([0, -100, 1]))
    return values


ROWS = '''
a + b | a + v | s + a | a - b | a * b | a * a | a / b | -a | 2 - a | 1 / a | a ** 2 | a ** 0.5 | a ** b | 2 ** a | a.pow(0) | a.square()
n.abs() | n.sign() | n + n.detach().sgn() | n.floor() | n.ceil() | n.round() | n.trunc() | n.frac() | a.exp() | a.exp2() | a.expm1() | a.log() | a.log2()
a.log10() | a.log1p() | a.sqrt() | a.rsqrt() | a.reciprocal() | n.sin() | n.cos() | a.tan() | a.asin() | a.acos() | n.atan() | n.sinh()
n.cosh() | n.asinh() | (a + 1).acosh() | a.atanh() | n.erf() | n.erfc() | n.relu() | n.tanh() | n.sigmoid()
F.leaky_relu(n) | F.leaky_relu(n, 0.3) | F.elu(n) | F.elu(n, 2.) | F.selu(n) | F.celu(n, 1.5) | F.gelu(n) | F.gelu(n, approximate='tanh')
F.silu(n) | F.mish(n) | F.softplus(n) | F.softplus(n, 2, 1) | F.logsigmoid(n) | F.hardtanh(n) | F.relu6(n) | F.hardsigmoid(n)
F.hardswish(n) | F.softshrink(n) | F.hardshrink(n) | F.threshold(n, 0.1, 2.) | F.softsign(n) | F.tanhshrink(n) | F.softmin(n, 0)
n.clamp(-0.5, 0.5) | n.clamp(min=0.2) | n.clamp(max=0.2) | n.clamp(a, b) | n.clamp(min=b) | n.clamp_min(0.2) | n.clamp_max(0.2)
a.maximum(b) | a.minimum(b) | torch.max(a, b) | a.atan2(b) | torch.lerp(a, b, 0.3) | torch.lerp(a, b, n) | torch.addcmul(n, a, b, value=2)
torch.addcdiv(n, a, b, value=2) | n.masked_fill(mask, 1.5) | n.masked_fill(mask, s) | torch.where(mask, a, b) | torch.where(mask, a, 0.)
torch.xlogy(a, b) | n.fmod(b) | n.remainder(b) | F.dropout(a, 0.) | F.dropout(a, 0.5, False)
a.sum() | a.sum(1) | p.sum((0, 2), keepdim=True) | a.mean() | a.mean(1) | p.mean((0, 2), True) | n.max() | n.min() | n.max(1)[0] | n.max(0, True)[0]
n.min(1)[0] | n.amax(1) | n.amax() | p.amin((0, 2)) | n.norm() | n.norm(1) | n.norm(3) | n.norm(2, dim=1) | n.norm(dim=1, keepdim=True)
n.norm(p=float('inf')) | torch.linalg.vector_norm(n) | n.std() | n.std(1) | n.var() | n.var(1, keepdim=True) | n.var(unbiased=False)
n.var(dim=1, correction=0) | a.prod() | a.prod(1) | (a * mask).prod(1) | n.logsumexp(1) | p.logsumexp((0, 2)) | n.nansum(1) | a.nansum() | (a / mask.double()).nansum((0, 1)) | n.cumsum(1)
F.softmax(n, 1) | F.log_softmax(n, 0) | n.softmax(-1)
a.view(2, 6) | a.reshape(4, 3) | a.t().reshape(-1) | a.flatten() | p.flatten(1) | a.expand(2, 3, 4) | s.expand(3) | a.broadcast_to(2, 3, 4)
a.as_strided((2, 2), (4, 1)) | a.as_strided((2, 3), (1, 1), 1) | a.split(3, 1)[0] | a.split([1, 3], 1)[1] | a.chunk(2, 1)[1] | a.unbind(1)[2]
a.narrow(1, 1, 2) | a.select(1, -1) | a.t() | a.transpose(0, 1) | p.permute(2, 0, 1) | p.movedim(0, 2) | p.swapaxes(0, 1) | a.T | a.squeeze()
a.unsqueeze(1) | a.unsqueeze(1).squeeze(1) | a.view_as(b) | a.unflatten(1, (2, 2)) | a.contiguous() | a.t().contiguous() | a.clone()
torch.cat([a, b]) | torch.cat([a, b], 1) | torch.stack([a, b], 1) | a.repeat(2, 3) | a.repeat(2, 1, 2) | v.tile(2, 2) | a.flip(0) | p.flip(0, 2)
a.roll(1, 0) | a.roll(2) | p.roll((1, -1), (0, 2)) | a.tril() | a.tril(-1) | p.triu(1) | a.expand_as(p) | a.to(torch.float32) | a.float().double()
a[0] | a[1:] | a[:, 1] | a[None] | a[..., 0] | a[::2, 1:3] | a[:, None, 0:2] | a[j] | a[j, j] | a[:, j] | a[mask] | a[mask[0, 0:3]] | a[0, j] | a[1:, j]
a[[0, 1]] | a[[0, 1], [1, 2]] | a[..., j] | p[:, j[:1], j] | p[j[:1], :, k] | a[-1, -j]
a.sort(1)[0] | n.sort(0, True)[0] | n.topk(2)[0] | n.topk(2, 0, False)[0] | a.kthvalue(2, 1)[0] | n.median() | n.median(1)[0] | n.mode(1)[0] | n.cummax(1)[0] | n.cummin(0)[0]
a.cumprod(1) | n.nan_to_num() | a.logit() | a.logit(0.3) | a.erfinv() | a.lgamma() | a.digamma() | n.deg2rad() | torch.var_mean(a, 1)[1] | a.msort()
torch.diag(v) | a.diag() | a.diag(1) | a.diagonal(-1) | p.diagonal(0, 1, 2) | torch.diag_embed(v, 1) | a.unfold(1, 2, 1) | a.unfold(0, 2, 2) | torch.atleast_2d(v) | a.ravel()
torch.einsum('ij,jk->ik', a, m) | torch.einsum('ij,jk->ki', a, m) | torch.einsum('ij->ji', a) | torch.einsum('ij,ij->ij', a, b) | torch.einsum('ij->', a) | torch.einsum('bij,bjk->bik', p, q)
torch.einsum('i,j->ij', v, w) | torch.einsum('...ij,...jk->...ik', p, q) | torch.einsum('ij,ik,jl->kl', a, b, m) | torch.einsum('i,i->', v, w) | torch.einsum('bij,jk->bik', p, m) | torch.einsum('ij,j', a, v)
torch.tensordot(a, m, 1) | torch.tensordot(p, q, ([2], [1])) | torch.tensordot(v, w, 1) | torch.inner(a, b) | torch.kron(a, m) | torch.vstack([a, b]) | torch.hstack([v, w]) | torch.dstack([a, b])
F.pad(a, (1, 2)) | F.pad(a, (-1, 1), value=3.) | F.pad(p, (1, 1), 'reflect') | F.pad(p, (2, 1), 'replicate') | F.pad(p[None], (1, 1, 2, 0), 'reflect') | F.pad(p[None], (1, 1, 2, 0), 'replicate')
a.repeat_interleave(2) | a.repeat_interleave(2, 0) | a.repeat_interleave(k, 0) | a.take_along_dim(i[:, :1], 0) | F.normalize(a) | torch.meshgrid(v, w, indexing='ij')[0] | torch.meshgrid(v, w, indexing='xy')[1]
a.diff() | a.tensor_split(3, 1)[0] | a.fliplr() | F.cosine_similarity(a, b) | a.sum_to_size(1, 4) | torch.combinations(v) | torch.cartesian_prod(v, w) | a.clone().t_() | a.clone().transpose_(0, 1)
a.clone().unsqueeze_(1) | a[None].clone().squeeze_(0) | a.mT | a.absolute() | torch.divide(a, b) | torch.concat([a, b]) | torch.moveaxis(p, 0, 1)
a @ m | a @ v | v @ w | v @ m | p @ m | p @ v | p @ q | v @ q | a[:, :3] @ p | p[:, None] @ q | torch.mm(a, m) | torch.mv(a, v) | torch.dot(v, w)
torch.bmm(p, q) | torch.outer(v, w) | torch.addmm(s, a, m) | torch.addmm(m[:3], a, m, beta=0.5, alpha=2) | torch.baddbmm(s, p, q) | torch.baddbmm(q[:, :3], p, q, beta=2, alpha=0.5)
F.linear(a, m.t()) | F.linear(a, m.t(), v[:2]) | F.linear(p, m.t(), v[:2]) | F.linear(p, m.t()) | F.linear(v, m.t(), w[:2]) | F.linear(p[None], m.t(), v[:2])
a.index_select(1, j) | a.gather(0, i) | a.gather(0, i[:1, :2]) | a.scatter_add(0, i, b[:2]) | a.scatter(0, i[:1], b[:1]) | a.scatter(0, i[:1], 1.5) | a.index_add(0, j, b[:2])
a.index_put((j,), b[:2]) | a.index_put((j,), b[:2], accumulate=True) | a.index_put((j, j), s) | a.masked_select(mask) | a.scatter_add(0, j[None], b[:1, :2])
F.embedding(i, table[:4]) | F.embedding(k, table, padding_idx=1) | F.embedding_bag(k, table, torch.tensor([0, 2])) | F.embedding_bag(i, table, mode='sum')
F.embedding_bag(i, table, mode='max') | F.embedding_bag(k, table, torch.tensor([0, 1]), mode='sum', per_sample_weights=v[:3])
F.nll_loss(n, classes) | F.nll_loss(n, ignored) | F.nll_loss(n, classes, weight=weights) | F.nll_loss(n, classes, reduction='none') | F.nll_loss(p, i[:, :4] % 3)
F.nll_loss(n, classes, reduction='sum', ignore_index=3) | F.cross_entropy(n, classes) | F.cross_entropy(n, ignored, reduction='sum')
F.cross_entropy(n, classes, weight=weights) | F.cross_entropy(n, b) | F.cross_entropy(n, classes, reduction='none')
F.mse_loss(a, b) | F.mse_loss(a, v) | F.mse_loss(a, b, reduction='sum') | F.l1_loss(a, b) | F.smooth_l1_loss(a, n) | F.smooth_l1_loss(a, n, beta=0.5, reduction='none')
F.huber_loss(a, n, delta=0.7) | F.binary_cross_entropy(a, b) | F.binary_cross_entropy(a, b, reduction='sum', weight=weights)
F.binary_cross_entropy_with_logits(n, b) | F.binary_cross_entropy_with_logits(n, b, pos_weight=weights) | F.kl_div(n, b) | F.kl_div(n, b, log_target=True)
F.kl_div(n, b, reduction='batchmean')
F.affine_grid(p[:, :2, :3], (2, 1, 3, 2), align_corners=False) | F.affine_grid(p[:, :2, :3], (2, 1, 1, 4), align_corners=True)
F.grid_sample(p[None], places, align_corners=False) | F.grid_sample(p[None], places, 'bilinear', 'border', True) | F.grid_sample(p[None], places, 'bilinear', 'reflection', False)
F.grid_sample(p[None], places, 'bilinear', 'reflection', True) | F.grid_sample(p[None], places.detach(), 'nearest', 'zeros', False) | F.grid_sample(p[None], places, 'nearest', 'reflection', True)
torch.linalg.inv(square) | torch.inverse(square) | torch.linalg.det(square) | square.det() | square.logdet() | torch.linalg.slogdet(square)[1]
torch.linalg.solve(square, a) | torch.linalg.solve(square, a[:, 0]) | torch.linalg.cholesky(square @ square.mT) | torch.linalg.solve_triangular(square, a, upper=True)
torch.linalg.solve_triangular(square, a, upper=False, unitriangular=True) | torch.linalg.qr(square)[0] | torch.linalg.qr(square)[1] | torch.linalg.eigh(square @ square.mT)[0]
torch.linalg.svd(square)[1] | torch.linalg.svdvals(square) | torch.linalg.pinv(square) | torch.linalg.lstsq(square, a)[0] | torch.linalg.matrix_norm(square) | torch.linalg.norm(square, 1)
torch.linalg.norm(square, float('inf')) | torch.linalg.vecdot(a, b) | torch.linalg.cross(square, a[:, :3]) | torch.linalg.inv(torch.stack([square, square.mT])) | torch.linalg.det(torch.stack([square, square.mT]))
torch.matrix_exp(square) | torch.linalg.matrix_exp(torch.stack([square, square * 9])) | torch.linalg.eigvals(square).real | torch.linalg.eig(square)[0].imag | torch.linalg.lu(square)[1]
(torch.linalg.eig(square)[1] * torch.linalg.eig(square)[1].conj()).real | torch.linalg.lu(a)[1] | torch.linalg.lu(a)[2] | torch.linalg.lu(a.mT)[1] | torch.linalg.lu(a.mT)[2] | torch.linalg.lu_factor(square)[0]
torch.linalg.lu_solve(*torch.linalg.lu_factor(square), a) | torch.linalg.lu_solve(*torch.linalg.lu_factor(square), a, adjoint=True) | torch.linalg.lu_solve(*torch.linalg.lu_factor(square), a.mT, left=False)
torch.lu_unpack(*torch.linalg.lu_factor(square))[2] | torch.linalg.qr(a)[0] | torch.linalg.qr(a)[1] | torch.linalg.svd(a)[1] | torch.linalg.svd(a.mT)[0][:, :3].abs()
torch.linalg.vander(a[0]) | torch.svd_lowrank(square, 3)[1] | ((square * (1 + 2j) + a[:, :3]) @ (square - a[:, :3] * 1j)).real
((square * (1 + 2j) + a[:, :3]) @ (a[0, :3] * (2 - 1j))).imag | torch.linalg.inv((square * (1 + 2j) + a[:, :3])).imag | torch.linalg.cross((square * (1 + 2j) + a[:, :3]), (square - a[:, :3] * 1j)).real
torch.linalg.eigvalsh((square * (1 + 2j) + a[:, :3]) @ (square * (1 + 2j) + a[:, :3]).mH) | torch.linalg.solve((square * (1 + 2j) + a[:, :3]), (a * (1 + 1j))).imag | torch.bmm((square * (1 + 2j) + a[:, :3])[None], (a * (1 + 1j))[None]).imag
F.unfold(p[None], 2) | F.unfold(p[None], (2, 3), padding=1, stride=2) | F.fold(q[:, :4, :4], (3, 3), 2) | F.max_pool3d(p[None, None], 2) | F.avg_pool3d(p[None, None], 2)
F.max_pool3d(p[None, None], (1, 2, 2), (1, 1, 2), (0, 1, 1), ceil_mode=True) | F.avg_pool3d(p[None, None], 2, 1, 1, True, False) | F.conv3d(p[None, None], q[:1, None, None, :2, :2]) | F.conv3d(p[None, None], q[:1, None, None, :2, :2], s.view(1), padding=1, stride=2)
F.conv_transpose3d(p[None, None], q[:1, None, None, :2, :2], s.view(1), 2, 1, 1) | F.lp_pool2d(a[None], 2, 2) | F.max_unpool2d(*F.max_pool2d(a[None], 2, return_indices=True), 2)
F.ctc_loss(p.log_softmax(2), classes.new_tensor([[1, 2], [2, 2], [3, 0]]), (2, 2, 2), (2, 1, 1)) | F.ctc_loss(p.log_softmax(2), classes.new_tensor([1, 2, 2, 3]), (2, 2, 1), (2, 1, 1), reduction='sum')
F.grid_sample(p[None], places, 'bicubic', 'zeros', False) | F.grid_sample(p[None], places, 'bicubic', 'border', True) | F.grid_sample(p[None], places, 'bicubic', 'reflection', False)
'''

# Rows whose texts alone are compared: what is refused, and how. Of PyTorch 2.13.
REFUSED = '''
torch.nextafter(a, b).sum().backward() | torch.ones(2) + torch.ones(3) | torch.ones(2, 3) @ torch.ones(2, 3) | torch.ones(3).view(2) | torch.ones(2).expand(3)
torch.ones(2, 3).sum(2) | torch.ones(2).sum((0, 0)) | torch.ones(2).softmax(1) | torch.cat([torch.ones(1, 2), torch.ones(1, 3)]) | torch.stack([torch.ones(1), torch.ones(2)])
torch.ones(2)[2] | torch.ones(2)[0, 0] | a[torch.tensor([3])] | a.index_select(0, torch.tensor([3])) | a.gather(0, torch.tensor([[3]])) | F.nll_loss(n, torch.tensor([0, 9, 1]))
F.nll_loss(n, torch.tensor([0, 1])) | F.binary_cross_entropy(n, b) | F.binary_cross_entropy(a, b[0]) | F.smooth_l1_loss(a, b, beta=-1.) | torch.ones(2).clamp()
a.roll((1, 2), 0) | a.repeat(2) | torch.ones(2).tril() | a.split(-1) | a.split([1, 1]) | a.chunk(0) | torch.tensor(1.).unbind() | a.narrow(0, 2, 2) | a.permute(0, 0) | a.permute(0)
torch.ones(2, dtype=torch.int64).mean() | torch.ones(2, dtype=torch.complex64) < 1 | torch.ones(2, dtype=torch.complex64).relu() | torch.arange(2).requires_grad_()
torch.tensor(3, requires_grad=True) | torch.arange(2) ** -1 | a.softmax() | a.flip(3) | a.movedim((0, 1), (0,)) | torch.outer(a, v) | torch.dot(v, a) | torch.mm(a, v)
torch.bmm(a, a) | a.masked_fill(mask, v) | F.embedding_bag(k, table) | a.std(5) | torch.sparse_coo_tensor([[0, 0]], [1., 2.], (1,)).indices() | a.scatter_add(0, i, b.float())
a.topk(9) | a.kthvalue(9) | torch.einsum('ij,jk->ik', a) | torch.einsum('ij,jk->ik', a, a) | torch.einsum('ij->k', a) | torch.tensordot(a, a, 1) | a.diagonal(0, 0, 0) | a.unfold(1, 9, 1) | F.pad(a, (1,)) | F.pad(a, (1, 1), 'x') | v.mT
torch.bincount(torch.tensor([-1])) | F.one_hot(torch.tensor([-1])) | a & 1 | torch.ones(2).allclose(torch.ones(2, dtype=DOUBLE)) | torch.ones(2, 3).diag_embed(0, 1, 1) | v.repeat_interleave(k) | a.cumsum(2) | p.t() | a.flatten(1, 0) | a.squeeze(3) | a.unsqueeze(4) | a.select(0, 5) | a.max(7)
'''

# What is printed, or told, alike.
TOLD = '''
torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,)) | torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,)).coalesce() | (torch.sparse_coo_tensor([[0, 2]], [1., 3.], (4,)) * 2).to_dense()
torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,)) + torch.sparse_coo_tensor([[0, 2, 3]], [1., 2., 3.], (4,)) | torch.ones(4) + torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,)) | torch.ones(4).add_(torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,)), alpha=-2)
torch.sparse_coo_tensor([[0, 1]], [[1., 2.], [3., 4.]]) | torch.sparse_coo_tensor([[0]], [1.], (2,)).is_sparse | torch.ones(1).layout | -torch.sparse_coo_tensor([[0]], [1.], (2,))
torch.sparse_coo_tensor([[0, 2, 2]], [1., 2., 3.], (4,), dtype=torch.float64) | torch.sparse_coo_tensor([[0]], [1.], (2,)).clone().is_coalesced()
torch.tensor([1 + 2j, 3.5]) | torch.tensor(1 + 2j) | torch.ones(2, dtype=torch.complex128) * 2 | torch.tensor([1j, 2000., 3e-5]) | torch.tensor([1 + 1j, 2 - 3j]) + 1 | torch.ones(2) * 1j
torch.tensor([1j, 2]) * torch.ones(2, requires_grad=True) | torch.tensor([1 + 1j]).conj().tolist() | torch.tensor([1j]).is_complex() | (torch.tensor([1j]) == 1j).tolist() | torch.tensor([1j, 3]).sum()
torch.zeros(2, dtype=torch.int32) + 1 | torch.zeros(2, dtype=torch.int32) + torch.zeros(2, dtype=torch.int64) | torch.ones(2, dtype=torch.int32) + 1.5 | torch.ones(2, dtype=torch.int32) / 2
torch.ones(2, dtype=torch.int32).sum() | torch.ones(2, dtype=torch.complex64) + torch.ones(2, dtype=torch.float64) | torch.arange(3).max(0) | torch.arange(6).view(2, 3).argmax(1) | torch.arange(3).argmin()
torch.nonzero(torch.tensor([[1, 0], [0, 1]])) | torch.cat([torch.ones(1), torch.arange(2)]) | torch.tensor([True, False]).sum() | torch.arange(4).prod() | torch.arange(4).cumsum(0) | torch.arange(4).clamp(1, 2) | torch.arange(-2, 3).clamp(min=0) | torch.arange(-2, 3, dtype=torch.int32).clamp(max=1)
torch.arange(4) % 3 | torch.arange(-3, 4) // 2 | torch.tensor([5., -5.]) % 3 | torch.div(torch.tensor([5., -5.]), 3, rounding_mode='floor') | torch.tensor([1., float('nan')]).max() | list(torch.arange(2))
torch.tensor([2**53 + 1, 2**63 - 1, -2**63, -7]) % torch.tensor([3, 2, 5, 3]) | torch.tensor([2**53 + 1, 2**63 - 1, -2**63, -7]) // torch.tensor([3, 2, 5, 3])
torch.fmod(torch.tensor([2**53 + 1, -7, 7]), torch.tensor([3, 3, -3])) | torch.tensor([2**53 + 1, -7]) % 3 | (2**53 + 1) // torch.tensor([3, 2]) | 7 % torch.tensor([-3, 4]) | torch.tensor([2**53 + 1]) + (2**53 + 1)
torch.tensor([7]) % 0 | torch.tensor([7, 8]) // torch.tensor([1, 0]) | torch.fmod(torch.tensor([7]), 0) | torch.tensor([2**53 + 1, 3]) == 2**53 + 1 | torch.tensor([3, 2**53 + 1]) ** torch.tensor([39, 1])
torch.tensor([7., -7., 5.3, -5.3, 1e30, 0.3, float('inf'), 2.]) % torch.tensor([0., 0., .1, .1, -3., .1, 2., float('inf')]) | torch.tensor([2**63 - 1]) * 3 | torch.tensor([[2**53 + 1, 1], [2, 3]]).t().tolist()
torch.linspace(0, 1, 11) | torch.linspace(-3.3, 7.1, 57).tolist() | torch.logspace(0, 2, 3) | torch.eye(2, 3) | torch.full_like(torch.arange(2), 7) | torch.ones(2).new_zeros(2, 3) | torch.arange(2).new_tensor([3])
torch.tril_indices(3, 3) | torch.triu_indices(3, 4, 1) | torch.allclose(torch.ones(2), torch.ones(2) + 1e-9) | torch.isclose(torch.ones(2), torch.tensor([1.1, 1.])) | torch.equal(torch.ones(2), torch.ones(3))
torch.isfinite(torch.tensor([1., float('inf'), float('nan')])) | torch.unique(torch.tensor([3, 1, 3, 2])) | torch.unique(torch.tensor([[3, 1], [3, 2]]), return_inverse=True, return_counts=True) | torch.unique(torch.tensor([[1, 2], [1, 2]]), dim=0)
torch.bincount(torch.tensor([1, 3, 1])) | torch.histc(torch.tensor([.1, .4, .8]), 4, 0, 1) | torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 6])) | torch.bucketize(torch.tensor([0, 3, 6]), torch.tensor([1, 3, 5]), right=True)
torch.tensor([5, 6]) & 4 | torch.tensor([True, False]) ^ True | torch.tensor([5, 6]) << 1 | torch.tensor([5, -6]) >> 1 | ~torch.tensor([5, -6]) | torch.tensor([1, 0]).logical_and(torch.tensor([2., 3.])) | torch.logical_not(torch.tensor([0, 2]))
torch.tensor([[1, 0], [0, 0]]).any(0) | torch.tensor([[1, 0], [1, 1]]).all(dim=1, keepdim=True) | torch.ones(2, 3).sum(axis=1, keepdims=True) | torch.Tensor(2, 3).shape | torch.Tensor([1, 2]) | torch.LongTensor([1, 2]) | torch.BoolTensor([True])
isinstance(torch.arange(2), torch.LongTensor) | torch.ones(2).type() | torch.arange(2).type('torch.FloatTensor') | torch.arange(2).type(torch.float64) | torch.arange(2).type_as(torch.ones(1)) | torch.ones(2, 3).nelement() | torch.finfo(torch.float32)
torch.finfo(torch.float64).eps | torch.iinfo(torch.int64).max | torch.promote_types(torch.int64, torch.float32) | torch.can_cast(torch.float32, torch.int64) | torch.result_type(torch.arange(2), 1.5) | torch.arange(6).sort(descending=True) | torch.tensor([3., 1., 2.]).topk(2)
torch.tensor([[3, 1, 2], [1, 1, 0]]).argsort(1) | torch.tensor([3, 1, 2]).median() | torch.tensor([[3, 1, 3], [1, 1, 0]]).mode(1) | torch.tensor([float('nan'), 1., 3.]).sort() | torch.tensor([float('nan'), 1., 3.]).cummin(0) | F.one_hot(torch.tensor([0, 2]))
torch.where(torch.tensor([True, False, True])) | torch.broadcast_shapes((2, 1), (3,)) | torch.as_tensor([1, 2.]) | torch.block_diag(torch.ones(2), torch.ones(1, 1)) | torch.isin(torch.arange(3), torch.tensor([1, 2])) | torch.einsum('ii->i', torch.arange(4).view(2, 2))
torch.hann_window(4) | torch.arange(3).repeat_interleave(torch.tensor([1, 0, 2])) | torch.tensor([1., float('nan')]).nansum() | torch.arange(6).view(2, 3).T.nonzero().shape | torch.arange(3).new(2, 2).shape | torch.pi | torch.ones(2).itemsize
torch.tensor([7., -7., 5.3, -5.3, 1e30, 0.3, float('inf'), 2., -0.3]) // torch.tensor([0., 0., .1, .1, -3., .1, 2., float('inf'), -1.])
'''


def split(text):
    return [row.strip() for row in text.replace('\n', ' | ').split(' | ') if row.strip()]


def tree(node):
    if node is None:
        return '-'
    name = node.name().split('::')[-1]
    inside = ','.join(tree(child) + (f':{nr}' if nr else '') for child, nr in node.next_functions)
    return 'A' if name == 'AccumulateGrad' else f'{name}({inside})'


def scalar(out):
    """A weighted sum, so that no two elements have the same gradient."""
    weights = (torch.arange(out.numel(), dtype=DOUBLE) * 0.37 + 1).cos().view(out.shape)
    return (out.to(DOUBLE) * weights).sum()


def used(expression, values):
    return {name: x for name, x in values.items() if x.requires_grad and expression_has(expression, name)}


def expression_has(expression, name):
    import re
    return re.search(r'(?<![\w.\'])%s(?![\w(=])' % name, expression) is not None


def run(expression):
    values = arguments()
    out = eval(expression, globals(), values)
    leaves = used(expression, values)
    seen = {'value': out.detach().to(DOUBLE).tolist(), 'dtype': str(out.dtype), 'tree': tree(out.grad_fn), 'gradients': {}}
    if out.requires_grad:
        scalar(out).backward()
    seen['gradients'] = {name: None if x.grad is None else x.grad.to_dense().tolist() if x.grad.is_sparse else x.grad.tolist()
                         for name, x in leaves.items()}
    return seen


def raised(expression):
    values = arguments()
    try:
        eval(expression, globals(), values)
    except Exception as problem:
        return f'{type(problem).__name__}: {str(problem).splitlines()[0]}'
    return 'nothing raised'


def guarded(call, expression):
    try:
        return call(expression)
    except Exception as problem:
        return {'failed': f'{type(problem).__name__}: {str(problem)[:200]}'}


def first_gradients(expression, values, create_graph):
    leaves = used(expression, values)
    out = scalar(eval(expression, globals(), values))
    got = torch.autograd.grad(out, list(leaves.values()), create_graph=create_graph, allow_unused=True) if out.requires_grad else []
    return leaves, out, got


def slope(f, x, index):
    """By central differences of one element."""
    h, flat = 1e-5, x.detach().view(-1)
    kept = flat[index].item()
    flat[index] = kept + h
    above = f()
    flat[index] = kept - h
    below = f()
    flat[index] = kept
    return (above - below) / (2 * h)


def error_of(expression, second):
    """The greatest difference from finite differences, over some elements of each argument."""
    values, worst = arguments(), 0.

    def total():
        if not second:
            return scalar(eval(expression, globals(), values)).item()
        _, _, got = first_gradients(expression, values, False)
        return sum(scalar(g).item() for g in got if g is not None)

    leaves, out, got = first_gradients(expression, values, second)
    if second:
        out = sum([scalar(g) for g in got if g is not None and g.requires_grad], torch.zeros((), dtype=DOUBLE))
        got = torch.autograd.grad(out, list(leaves.values()), allow_unused=True) if out.requires_grad else [None] * len(leaves)
    for x, g in zip(leaves.values(), got):
        for index in range(0, x.numel(), 1 + x.numel() // 4):
            found = 0. if g is None else g.contiguous().view(-1)[index].item()
            worst = max(worst, abs(found - slope(total, x, index)) / max(1., abs(found)))
    return worst


SMOOTH = [row for row in split(ROWS) if not any(word in row for word in ('float', 'sign', 'sgn', 'floor', 'ceil', 'round', 'trunc', 'padding_idx'))]


def main(out):
    seen = {'engine': 'tapedeck' if hasattr(torch, '_tapedeck') else 'torch',
            'rows': {row: guarded(run, row) for row in split(ROWS)},
            'refused': {row: raised(row) for row in split(REFUSED)},
            'told': {row: guarded(lambda row: str(eval(row)), row) for row in split(TOLD)}}
    if hasattr(torch, '_tapedeck'):
        seen['errors'] = {row: [guarded(lambda row: error_of(row, order), row) for order in (False, True)] for row in SMOOTH}
    with open(out, 'w') as file:
        json.dump(seen, file)


main(*sys.argv[1:])
