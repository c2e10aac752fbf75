# SPDX-License-Identifier: LGPL-2.1-or-later
"""The functions of torch.linalg and torch for A = P L U."""
from torch import _C, _factors
from torch._operands import check, result, solvable
from torch._refused import checked

_LuFactor, _Lu = result('linalg_lu_factor', 'LU', 'pivots'), result('linalg_lu', 'P', 'L', 'U')
_LuFactorEx = result('linalg_lu_factor_ex', 'LU', 'pivots', 'info')
_LuUnpack = result('lu_unpack', 'P', 'L', 'U')


@checked
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    check('lu_factor', A, takes_complex=True)
    if not pivot:
        raise RuntimeError('linalg.lu_factor: LU without pivoting is not implemented on the CPU')
    made = _LuFactorEx(*_factors.lu_factor_ex(A))
    if check_errors:
        _check_factors('torch.linalg.lu_factor_ex', made.info)
    return made


def lu_factor(A, *, pivot=True):
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    _check_factors('torch.linalg.lu_factor', info)
    return _LuFactor(packed, pivots)


def _check_factors(name, info):
    zero = info.reshape(-1).max().item() if info.numel() else 0
    if zero:
        raise RuntimeError(f'{name}: U[{zero},{zero}] is zero and using it on lu_solve would result in a division '
                           'by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or '
                           'linalg.lu_factor_ex(A, pivot)')


@checked
def lu(A, *, pivot=True):
    check('lu', A, takes_complex=True)
    if not pivot:
        raise RuntimeError('linalg.lu: LU without pivoting is not implemented on the CPU')
    return _Lu(*_factors.lu(A))


def _check_pivots(LU, pivots):
    if pivots.dtype != _C.int32:
        raise RuntimeError('linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32')
    if LU.size(-1) != pivots.size(-1):
        raise RuntimeError('linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix')
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError('linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape '
                           f'{list(pivots.shape)} instead')


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """By A = P L U, or by A^H = U^H L^H P^T."""
    _check_pivots(LU, pivots)
    LU, B = solvable('lu_solve', LU, B, left, 'LU')
    return _factors.lu_solve(LU, pivots.expand(LU.shape[:-1]), B, left, adjoint)


@checked
def torch_lu_solve(b, LU_data, LU_pivots):
    return lu_solve(LU_data, LU_pivots, b)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    if LU_data.dim() < 2:
        raise RuntimeError('torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: '
                           f'{list(LU_data.shape)} instead')
    if LU_pivots.dtype != _C.int32:
        raise RuntimeError('torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n'
                           'Note: this function is intended to be used with the output produced by torch.linalg.lu_factor')
    if unpack_pivots and ((LU_pivots < 1) | (LU_pivots > LU_data.size(-2))).any():
        raise RuntimeError('pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the '
                           'result of lu_factor?')
    p, l, u = _factors.lu_unpack(LU_data, LU_pivots)
    none = _C.empty(0, dtype=LU_data.dtype)
    return _LuUnpack(p if unpack_pivots else none, *(l, u) if unpack_data else (none, none))
