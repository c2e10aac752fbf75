# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: writes whose operands share memory with what is written, and zero tensors."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from seen_cases import case, case_since_2, error_of, main

MASK, WHERE = torch.tensor([True, False, True]), torch.tensor([0, 1, 2])
PAIRS = {  # what is written, and the operand: parts of one tensor of six
    'shifted': lambda x: (x[:3], x[1:4]), 'the same': lambda x: (x[:3], x[:3]), 'beside': lambda x: (x[:3], x[3:]),
    'interleaved': lambda x: (x[::2], x[1::2]), 'one of many': lambda x: (x[:1].expand(2)[:1], x[:1]),
    'expanded': lambda x: (x[:3], x[0].expand(3)), 'one of three': lambda x: (x[:3], x[0])}
WRITES = {
    'add_': lambda a, b: a.add_(b), 'sub_': lambda a, b: a.sub_(b), 'mul_': lambda a, b: a.mul_(b), 'div_': lambda a, b: a.div_(b),
    'copy_': lambda a, b: a.copy_(b), 'pow_': lambda a, b: a.pow_(b), 'addcmul_': lambda a, b: a.addcmul_(b, b),
    'addcdiv_': lambda a, b: a.addcdiv_(b + 0, b), 'lerp_': lambda a, b: a.lerp_(b, 0.5), 'clamp_': lambda a, b: a.clamp_(min=b),
    'remainder_': lambda a, b: a.remainder_(b), 'fmod_': lambda a, b: a.fmod_(b),
    'masked_fill_': lambda a, b: a.masked_fill_(MASK[:len(a)], b.reshape(-1)[0]),
    'index_add_': lambda a, b: a.index_add_(0, WHERE[:len(a)], b), 'index_put_': lambda a, b: a.index_put_((WHERE[:len(a)],), b),
    'scatter_': lambda a, b: a.scatter_(0, WHERE[:len(a)], b), 'scatter_add_': lambda a, b: a.scatter_add_(0, WHERE[:len(a)], b),
    'slice': lambda a, b: a.__setitem__(slice(None), b), '+=': lambda a, b: a.__iadd__(b),
    'mask': lambda a, b: a.__setitem__(MASK[:len(a)], b.reshape(-1)[0])}
VECTORS = ('index_add_', 'scatter_', 'scatter_add_')  # which refuse a number for other reasons


@case
def shared_operands():
    seen = {}
    for name, write in WRITES.items():
        for pair, of in PAIRS.items():
            x = torch.tensor([1., 2., 3., 4., 5., 6.])
            if not (name in VECTORS and pair == 'one of three'):
                text = error_of(lambda: write(*of(x)))
                # PyTorch reads some elements of an expanded operand after it wrote them
                seen[f'{name}, {pair}'] = text if pair == 'expanded' else [text, x]
    return seen


@case
def shared_and_wrong():
    """The error about memory comes before others."""
    x, whole = torch.arange(6.), torch.arange(6)
    square = torch.arange(9.).reshape(3, 3)
    return [error_of(call) for call in (
        lambda: x[:3].mul_(x[1:3]), lambda: x[:1].mul_(x[:3]), lambda: whole[:3].mul_(whole[1:4] * 0.5),
        lambda: whole[:3].div_(whole[1:4]), lambda: square.add_(square.t()), lambda: square.add_(square[0]),
        lambda: (x[:3] * 2).requires_grad_().mul_(x[1:4]))]


def zero_tensor():
    x = torch.tensor([1.5, -2.], requires_grad=True)
    x.sgn().sum().backward()
    return x.grad


@case
def products_of_zero_tensors():
    """Without memory they are, whatever they are multiplied with."""
    z, y = zero_tensor(), torch.tensor([1., 2.])
    results = [z * 2, z / 2, z * y, y * z, z + z, z - z, z + 1, -z, z / y, z[0], z.view(2, 1), z.expand(3, 2), z.clone(), z.detach(),
               z.float(), z.sum(), torch.cat([z, z]), torch.zeros_like(z), z.exp(), y - z, z * z, z * float('inf'), z / 0.]
    return [[result._is_zerotensor(), str(result)] for result in results]


@case
def gradients_that_are_zero_tensors():
    def backward(*losses):
        x = torch.tensor([1.5, -2.], requires_grad=True)
        text = error_of(lambda: [loss(x).sum().backward() for loss in losses])
        return [text, x.grad._is_zerotensor(), str(x.grad)]
    sgn, twice = torch.Tensor.sgn, lambda x: x * 2
    return [backward(*losses) for losses in ((sgn,), (sgn, sgn), (twice, sgn), (sgn, twice), (torch.sign,),
                                             (lambda x: x.sgn() + x.sgn(),), (lambda x: x.sgn() + x * 2,))]


@case_since_2
def refused_by_zero_tensors():
    z = zero_tensor()
    return [error_of(call) for call in (z.tolist, z.numpy, z.zero_, lambda: z.add_(1), lambda: z.fill_(1))] + [
        z.numpy(force=True).tolist(), z[0].item(), bool(z[0]), torch.sgn(torch.ones(1, requires_grad=True)).grad_fn.name()]


if __name__ == '__main__':
    main()
