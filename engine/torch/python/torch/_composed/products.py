# SPDX-License-Identifier: LGPL-2.1-or-later
"""einsum, tensordot and their kin."""
import math
import string

from torch import _C
from torch._composed.table import both, function

LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _count(numbers):
    return math.prod(numbers)


def _sum_of_products(left, right, summed):
    """The product of two tensors of equally many dimensions, summed over some, which stay with size 1."""
    if not summed:
        return left * right
    both_, lefts, rights = [], [], []
    for i in range(left.dim()):
        in_left, in_right = left.size(i) != 1, right.size(i) != 1
        if i in summed:
            left = left.sum(i, True) if in_left and not in_right else left
            right = right.sum(i, True) if in_right and not in_left else right
        else:
            (both_ if in_left and in_right else lefts if in_left else rights).append(i)
    if lefts and rights and rights[0] < lefts[0]:
        left, right, lefts, rights = right, left, rights, lefts
    n_both, n_left = _count(left.size(i) for i in both_), _count(left.size(i) for i in lefts)
    n_sum, n_right = _count(left.size(i) for i in summed), _count(right.size(i) for i in rights)
    sizes = [left.size(i) for i in both_ + lefts] + [1] * len(summed) + [right.size(i) for i in rights]
    order = both_ + lefts + summed + rights
    product = _C.Tensor.bmm(left.permute(order).reshape(n_both, n_left, n_sum),
                            right.permute(both_ + summed + rights + lefts).reshape(n_both, n_sum, n_right))
    return product.view(sizes).permute([order.index(i) for i in range(len(order))])


def _parse(text, n_operands):
    """The labels of each operand and of the result; a '.' stands for an ellipsis."""
    inputs, arrow, output = text.replace(' ', '').replace('...', '.').partition('->')
    inputs = inputs.split(',')
    if len(inputs) != n_operands:
        more = 'more' if len(inputs) < n_operands else 'fewer'
        raise RuntimeError(f'einsum(): {more} operands were provided than specified in the equation')
    for label in ''.join(inputs) + output:
        if label != '.' and label not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {text.find(label)} in the equation string, "
                               "subscripts must be in [a-zA-Z]")
    if not arrow:
        all_ = ''.join(inputs)
        output = ('.' if '.' in all_ else '') + ''.join(x for x in LETTERS if all_.count(x) == 1)
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f'einsum(): output subscript {label} appears more than once in the output')
        if label != '.' and label not in ''.join(inputs):
            raise RuntimeError(f'einsum(): output subscript {label} does not appear in the equation for any input operand')
    return inputs, output


def _arrange(operand, labels, places, n_ellipsis, n_dims):
    """The operand with a dimension at each place."""
    at, j = [-1] * n_dims, 0
    n_own = operand.dim() - (len(labels) - ('.' in labels))
    for label in labels:
        if label == '.':
            for _ in range(n_ellipsis - n_own):
                operand = operand.unsqueeze(j)
            for k in range(n_ellipsis):
                at[places['.'] + k], j = j, j + 1
        elif at[places[label]] >= 0:
            operand = operand.diagonal(0, at[places[label]], j).movedim(-1, at[places[label]])
        else:
            at[places[label]], j = j, j + 1
    for i in range(n_dims):
        if at[i] < 0:
            operand, at[i], j = operand.unsqueeze(-1), j, j + 1
    return operand.permute(at)


def _check_dims(labels, operand, i):
    n = len(labels.replace('.', ''))
    if n > operand.dim() or n < operand.dim() and '.' not in labels:
        raise RuntimeError(f'einsum(): the number of subscripts in the equation ({n}) does not match the number of dimensions '
                           f'({operand.dim()}) for operand {i} and no ellipsis was given' if '.' not in labels else
                           f'einsum(): the number of subscripts in the equation ({n}) is more than the number of dimensions '
                           f'({operand.dim()}) for operand {i}')


def _check_sizes(labels, operands):
    seen = {}
    for i, (names, operand) in enumerate(zip(labels, operands)):
        if '.' in names:
            continue
        for label, n in zip(names, operand.shape):
            if n != 1 and seen.setdefault(label, n) != n:
                raise RuntimeError(f'einsum(): subscript {label} has size {n} for operand {i} which does not broadcast with '
                                   f'previously seen size {seen[label]}')


def _contract(operands, n_out, n_dims):
    """Pair by pair, from the left; each dimension is summed as soon as nobody needs it."""
    counts = {d: sum(x.size(d) != 1 for x in operands) for d in range(n_out, n_dims)}
    while len(operands) > 1:
        a, b = operands[:2]
        summed, of_a, of_b = [], [], []
        for d in range(n_out, n_dims):
            if a.size(d) != 1 and b.size(d) != 1:
                counts[d] -= 1
                if counts[d] == 1:
                    summed.append(d)
                    counts[d] = 0
            elif counts[d] == 1 and (a.size(d) != 1 or b.size(d) != 1):
                (of_a if a.size(d) != 1 else of_b).append(d)
                counts[d] = 0
        a = a.sum(of_a, True) if of_a else a
        b = b.sum(of_b, True) if of_b else b
        operands = [_sum_of_products(a, b, summed), *operands[2:]]
    return operands[0]


@function
def einsum(equation, *operands):
    operands = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    labels, output = _parse(equation, len(operands))
    for i, (names, operand) in enumerate(zip(labels, operands)):
        _check_dims(names, operand, i)
    _check_sizes(labels, operands)
    n_ellipsis = max((x.dim() - len(names) + 1 for names, x in zip(labels, operands) if '.' in names), default=0)
    places, n = {}, 0
    for label in output + ('' if '.' in output or not n_ellipsis else '.') + ''.join(
            x for x in LETTERS if x in ''.join(labels) and x not in output):
        places[label], n = n, n + (n_ellipsis if label == '.' else 1)
    n_out = sum(n_ellipsis if x == '.' else 1 for x in output)
    single = len(operands) == 1
    result = _contract([_arrange(x, names, places, n_ellipsis, n) for names, x in zip(labels, operands)], n_out, n)
    if n == n_out:
        return result
    return result.sum(list(range(n_out, n))) if single else result.view(result.shape[:n_out])


@function
def tensordot(a, b, dims=2):
    if isinstance(dims, int):
        dims = list(range(-dims, 0)), list(range(dims))
    of_a, of_b = ([ds] if isinstance(ds, int) else list(ds) for ds in dims)
    if len(of_a) != len(of_b):
        raise RuntimeError('both dimension lists should have same length')
    for i, j in zip(of_a, of_b):
        if a.size(i) != b.size(j) and 1 not in (a.size(i), b.size(j)):
            raise RuntimeError(f'contracted dimensions need to match, but first has size {a.size(i)} in dim {i} and second '
                               f'has size {b.size(j)} in dim {j}')
        a = a.sum(i, True) if b.size(j) == 1 and a.size(i) != 1 else a
        b = b.sum(j, True) if a.size(i) == 1 and b.size(j) != 1 else b
    of_a, of_b = [d % a.dim() for d in of_a], [d % b.dim() for d in of_b]
    left, right = ([d for d in range(x.dim()) if d not in ds] for x, ds in ((a, of_a), (b, of_b)))
    n, sizes = _count(a.size(d) for d in of_a), [a.size(d) for d in left] + [b.size(d) for d in right]
    if not sizes:
        a, b = (x if x.dim() == 1 else x.reshape(-1) for x in (a.permute(of_a), b.permute(of_b)))
        return a.dot(b).reshape(sizes)
    product = a.permute(left + of_a).reshape(-1 if n else 0, n).mm(b.permute(of_b + right).reshape(n, -1 if n else 0))
    return product.reshape(sizes)


@both
def inner(input, other):
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.size(-1) != other.size(-1):
        raise RuntimeError('inner() the last dimension must match on both input tensors but got shapes '
                           f'{list(input.shape)} and {list(other.shape)}')
    return tensordot(input, other, ([-1], [-1])) if max(input.dim(), other.dim()) > 1 else tensordot(input, other, ([0], [0]))


@both
def kron(input, other):
    n = max(input.dim(), other.dim())
    a, b = [1] * (n - input.dim()) + list(input.shape), [1] * (n - other.dim()) + list(other.shape)
    product = (_C.unsafe_view(input, [m for k in a for m in (k, 1)]) * _C.unsafe_view(other, [m for k in b for m in (1, k)]))
    return _C.unsafe_view(product, [i * j for i, j in zip(a, b)])


@function
def chain_matmul(*matrices):
    result = matrices[0]
    for matrix in matrices[1:]:
        result = result.mm(matrix)
    return result


@both
def addmv(input, mat, vec, *, beta=1, alpha=1):
    return beta * input + alpha * mat.mv(vec)


@both
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    return beta * input + alpha * vec1.outer(vec2)


@both
def vdot(input, other):
    return input.conj().dot(other)


@both
def matrix_power(input, n):
    if n < 0:
        raise RuntimeError('linalg.matrix_power: negative powers need an inverse')
    result = None
    while n:
        result = input if n % 2 and result is None else result.matmul(input) if n % 2 else result
        input, n = input.matmul(input) if n > 1 else input, n // 2
    return _C.eye(input.size(-1), input.size(-1), dtype=input.dtype).expand(input.shape).clone() if result is None else result
