# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.linalg: norms, decompositions and solutions of _equations."""
import math

from torch import _C, _eigen, _equations
from torch import _decompositions as of
from torch._composed import FUNCTIONS
from torch._equations import LinAlgError, check_info
from torch._lu_functions import lu, lu_factor, lu_factor_ex, lu_solve, lu_unpack, torch_lu_solve
from torch._operands import check, is_vector, match, result, solvable
from torch._products import _cross, cross, diagonal, multi_dot, vecdot
from torch._refused import checked, scalar_name

matrix_power, matmul = FUNCTIONS['matrix_power'], _C.Tensor.matmul


_Slogdet, _Qr, _Eigh = result('linalg_slogdet', 'sign', 'logabsdet'), result('linalg_qr', 'Q', 'R'), result('linalg_eigh', 'eigenvalues',
                                                                                              'eigenvectors')
_Svd, _Eig = result('linalg_svd', 'U', 'S', 'Vh'), result('linalg_eig', 'eigenvalues', 'eigenvectors')
_InvEx, _CholeskyEx, _SolveEx = (result('linalg_inv_ex', 'inverse', 'info'), result('linalg_cholesky_ex', 'L', 'info'),
                                 result('linalg_solve_ex', 'result', 'info'))
_Lstsq = result('linalg_lstsq', 'solution', 'residuals', 'rank', 'singular_values')


def _rtol(a, rtol=None):
    eps = 2.0 ** -23 if a.dtype == _C.float32 else 2.0 ** -52
    return max(a.shape[-2:]) * eps if rtol is None else rtol


_SINGULAR = 'The solver failed because the input matrix is singular.'
_NO_INVERSE = ('The diagonal element {} is zero, the inversion could not be completed because the input matrix is '
               'singular.')
_NOT_POSITIVE = ('The factorization could not be completed because the input is not positive-definite (the leading minor of '
                 'order {} is not positive-definite).')


# Norms.

def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    return _C.vector_norm(x if dtype is None else x.to(dtype), ord, dim, keepdim)


def _extreme(x, ord, dim, keepdim):
    return x.amax(dim, keepdim) if ord > 0 else x.amin(dim, keepdim)


def matrix_norm(A, ord='fro', dim=(-2, -1), keepdim=False):
    rows, columns = (d % A.dim() for d in dim)
    if ord == 'fro':
        return _C.vector_norm(A, 2, (rows, columns), keepdim)
    if ord in ('nuc', 2, -2):
        values = svdvals(A.movedim((rows, columns), (-2, -1)))
        result = values.sum(-1) if ord == 'nuc' else _extreme(values, ord, -1, False)
        return result.unsqueeze(min(rows, columns)).unsqueeze(max(rows, columns)) if keepdim else result
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f'linalg.matrix_norm: Order {ord} not supported.')
    summed, left = (rows, columns) if abs(ord) == 1 else (columns, rows)
    lengths = _C.vector_norm(A, 1, summed, keepdim)
    return _extreme(lengths, ord, left if keepdim or left < summed else left - 1, keepdim)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Of a vector; of a matrix, if there is an order and two dimensions; else of all elements."""
    A = A if dtype is None else A.to(dtype)
    dims = (dim,) if isinstance(dim, int) else dim
    if ord is None:
        return _C.vector_norm(A, 2, dim, keepdim)
    if len(dims) == 2 if dims is not None else A.dim() == 2:
        return matrix_norm(A, ord, (0, 1) if dims is None else dims, keepdim)
    if isinstance(ord, str):
        raise RuntimeError(f'linalg.norm: If ord is a string, the input must have 2 dimensions. Got {A.dim()}')
    return _C.vector_norm(A, ord, dim, keepdim)


def cond(A, p=None):
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values.select(-1, 0), values.select(-1, -1)
        return last / first if p == -2 else first / last
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


def _hermitian(a):
    """Of its lower triangle, as eigh reads it."""
    return a.tril() + a.tril(-1).mH


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    values = svdvals(_hermitian(A.detach()) if hermitian else A.detach())
    least = values.amax(-1, True) * _rtol(A, rtol if rtol is not None else 0 if atol or tol is not None else None)
    if atol is not None or tol is not None:
        least = least.clamp(min=float(tol if atol is None else atol))
    return (values > least).sum(-1)


# Equations.

def solve_ex(A, B, *, left=True, check_errors=False):
    if is_vector(A, B):
        A, right = solvable('solve', A, B.detach().unsqueeze(-1), left)
        x, info = _equations.solve_ex(A, B if B.dim() == A.dim() - 1 else B.expand(right.shape[:-1]))
    else:
        A, B = solvable('solve', A, B, left)
        x, info = _equations.solve_ex(A, B) if left else _equations.solve_ex(A.mT, B.mT)
        x = x if left else x.mT
    if check_errors:
        check_info('torch.linalg.solve_ex', info, _SINGULAR)
    return _SolveEx(x, info)


def solve(A, B, *, left=True):
    x, info = solve_ex(A, B, left=left)
    check_info('torch.linalg.solve', info, _SINGULAR)
    return x


def inv_ex(A, *, check_errors=False):
    check('inv', A, True, True)
    inverse, info = _equations.inv_ex(A)
    if check_errors:
        check_info('linalg.inv_ex', info, _NO_INVERSE)
    return _InvEx(inverse, info)


@checked
def inv(A):
    inverse, info = inv_ex(A)
    check_info('linalg.inv', info, _NO_INVERSE)
    return inverse


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    A, B = solvable('solve_triangular', A, B, left)
    return _equations.solve_triangular(A, B, upper, left, unitriangular)


@checked
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """Values are taken for zero up to the larger one of atol and rtol * the largest value."""
    check('pinv', A)
    rtol = rtol if rcond is None else rcond
    return of.pinv(A, _rtol(A, 0.0 if rtol is None and atol else rtol), atol or 0.0, hermitian)


def _check_lstsq(A, B):
    if A.dim() < 2:
        raise RuntimeError('torch.linalg.lstsq: input must have at least 2 dimensions.')
    if B.dim() < 1:
        raise RuntimeError('torch.linalg.lstsq: other must have at least 1 dimension.')
    if A.dtype != B.dtype:
        raise RuntimeError("torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
                           f"{scalar_name(A)} and other's dtype {scalar_name(B)}")
    check('lstsq', A)
    if A.dim() - B.dim() not in (0, 1):
        raise RuntimeError('torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - '
                           'other.dim()) <= 1')
    at = -1 if is_vector(A, B) else -2
    if B.size(at) != A.size(-2):
        raise RuntimeError(f'torch.linalg.lstsq: input.size(-2) should match other.size({at})')


def lstsq(A, B, rcond=None, *, driver=None):
    _check_lstsq(A, B)
    vector = is_vector(A, B)
    right = B.unsqueeze(-1) if vector else B
    A, right = match(A, right)
    x, rank = of.lstsq(A, right, _rtol(A, rcond)), matrix_rank(A)
    residuals = _C.empty(0, dtype=A.dtype)
    if driver not in (None, 'gelsy') and A.size(-2) > A.size(-1) and (rank == A.size(-1)).all():
        apart = (A @ x - right).detach()
        residuals = (apart * apart).sum(-2)
    return _Lstsq(x.squeeze(-1) if vector else x, residuals, rank, _C.empty(0, dtype=A.dtype))


# Determinants and decompositions.

@checked
def det(A):
    check('det', A, True)
    return of.det(A)


@checked
def slogdet(A):
    check('slogdet', A, True)
    return _Slogdet(*of.slogdet(A))


@checked
def logdet(input):
    sign, log = slogdet(input)
    return _C.where(sign == -1, _C.tensor(math.nan, dtype=log.dtype), log)


def cholesky_ex(A, *, upper=False, check_errors=False):
    check('cholesky', A, True)
    factor, info = of.cholesky_ex(A)
    if check_errors:
        check_info('linalg.cholesky_ex', info, _NOT_POSITIVE)
    return _CholeskyEx(factor.mT if upper else factor, info)


def cholesky(A, *, upper=False):
    factor, info = cholesky_ex(A, upper=upper)
    check_info('linalg.cholesky', info, _NOT_POSITIVE)
    return factor


@checked
def qr(A, mode='reduced'):
    check('qr', A)
    if mode not in ('reduced', 'complete', 'r'):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    q, r = of.qr(A, mode == 'complete')
    return _Qr(_C.empty(0, dtype=A.dtype) if mode == 'r' else q, r)


def eigh(A, UPLO='L'):
    check('eigh', A, True, True)
    return _Eigh(*of.eigh(A.mT if UPLO.upper() == 'U' else A))


def eigvalsh(A, UPLO='L'):
    return eigh(A, UPLO)[0]


@checked
def svd(A, full_matrices=True, *, driver=None):
    check('svd', A)
    return _Svd(*of.svd(A, full_matrices))


def svdvals(A, *, driver=None):
    check('svdvals', A)
    return of.svd(A)[1]


@checked
def eig(A):
    check('eig', A, True, True)
    if not (_C.view_as_real(A) if A.is_complex() else A).isfinite().all():
        raise RuntimeError('torch.linalg.eig: input tensor should not contain infs or NaNs.')
    return _Eig(*_eigen.eig(A))


def eigvals(A):
    check('eig', A, True, True)
    return _eigen.eig(A)[0]


@checked
def matrix_exp(A):
    check('matrix_exp', A, True)
    return _eigen.matrix_exp(A)


def vander(x, *, N=None):
    n = x.size(-1) if N is None else N
    powers = x.unsqueeze(-1).expand(*x.shape, n - 1).cumprod(-1)
    return _C.cat([_C.ones((*x.shape, 1), dtype=powers.dtype), powers], -1)


def _vander(x, N=None, increasing=False):
    powers = vander(x, N=N)
    return powers if increasing else powers.flip(-1)


# What stands in `torch` under the same name, and differs.

@checked
def _cholesky(input, upper=False):
    return cholesky(input, upper=upper)


@checked
def cholesky_solve(B, L, upper=False):
    for name, tensor in (('b', B), ('u', L)):
        if tensor.dim() < 2:
            raise RuntimeError(f'{name} should have at least 2 dimensions, but has {tensor.dim()} dimensions instead')
    if B.dtype != L.dtype:
        raise RuntimeError(f'Expected b and A to have the same dtype, but found b of type {scalar_name(B)} and A of type '
                           f'{scalar_name(L)} instead.')
    rows, columns = L.shape[-2:]
    if rows != columns:
        raise RuntimeError(f'A must be batches of square matrices, but they are {rows} by {columns} matrices')
    if B.size(-2) != rows:
        raise RuntimeError(f'Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {rows} but each b matrix '
                           f'is {B.size(-2)} by {B.size(-1)}')
    factor = L.mT if upper else L
    return solve_triangular(factor.mT, solve_triangular(factor, B, upper=False), upper=True)


@checked
def cholesky_inverse(L, upper=False):
    if L.dim() < 2:
        raise RuntimeError('cholesky_inverse: The input tensor A must have at least 2 dimensions.')
    if L.size(-2) != L.size(-1):
        raise RuntimeError(f'cholesky_inverse: A must be batches of square matrices, but they are {L.size(-2)} by {L.size(-1)} '
                           'matrices')
    return cholesky_solve(FUNCTIONS['eye'](L.size(-1), dtype=L.dtype), L, upper)


def _svd(input, some=True, compute_uv=True):
    u, s, vh = svd(input, not some)
    if not compute_uv:
        u, vh = _C.zeros_like(u), _C.zeros_like(vh)
    return result('linalg_svd', 'U', 'S', 'V')(u, s, vh.mT)


def _qr(input, some=True):
    return qr(input, 'reduced' if some else 'complete')


def tensorinv(A, ind=2):
    """The inverse for tensordot over the first `ind` dimensions."""
    rows, columns = A.shape[:ind], A.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError('Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got '
                           f'{math.prod(columns)} != {math.prod(rows)}')
    return inv(A.reshape(math.prod(rows), math.prod(columns))).reshape(*columns, *rows)


def tensorsolve(A, B, dims=None):
    """X with tensordot(A, X, X.dim()) == B."""
    if dims is not None:
        A = A.movedim(dims, tuple(range(A.dim() - len(dims), A.dim())))
    unknown = A.shape[B.dim():]
    if B.numel() != math.prod(unknown):
        raise RuntimeError('Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == '
                           f'prod(self.shape[:other.ndim]), but got {math.prod(unknown)} != {B.numel()}')
    return solve(A.reshape(B.numel(), B.numel()), B.flatten()).reshape(unknown)


def adjoint(input):
    return input.mH


# What stands in `torch` itself and is a method too, and what is none.
ROOT = {'det': det, 'inverse': inv, 'logdet': logdet, 'slogdet': slogdet, 'pinverse': pinv, 'cholesky': _cholesky,
        'cholesky_solve': cholesky_solve, 'cholesky_inverse': cholesky_inverse, 'svd': _svd, 'qr': _qr, 'cross': _cross,
        'matrix_exp': matrix_exp, 'lu_solve': torch_lu_solve, 'adjoint': adjoint}
_C.add_methods(ROOT)
ROOT.update(lu_unpack=lu_unpack, vander=_vander, svd_lowrank=_eigen.svd_lowrank, pca_lowrank=_eigen.pca_lowrank)
