# SPDX-License-Identifier: LGPL-2.1-or-later
"""torch.linalg: norms, decompositions and solutions of equations."""
import collections
import math

from tapedeck import _C, eigen, equations, factors
from tapedeck import decompositions as of
from tapedeck.composed import FUNCTIONS
from tapedeck.equations import LinAlgError, check_info
from tapedeck.products import _cross, cross, diagonal, multi_dot, vecdot
from tapedeck.refused import checked, scalar_name

matrix_power, matmul = FUNCTIONS['matrix_power'], _C.Tensor.matmul


def _result(name, *fields):
    """A named tuple that prints as PyTorch's do."""
    kind = collections.namedtuple('linalg_' + name, fields)
    kind.__module__ = 'torch.return_types'
    kind.__repr__ = lambda self: (f'torch.return_types.linalg_{name}(\n'
                                  + ',\n'.join(f'{f}={v!r}' for f, v in zip(fields, self)) + ')')
    return kind


_Slogdet, _Qr, _Eigh = _result('slogdet', 'sign', 'logabsdet'), _result('qr', 'Q', 'R'), _result('eigh', 'eigenvalues',
                                                                                              'eigenvectors')
_Svd, _LuFactor, _Lu = _result('svd', 'U', 'S', 'Vh'), _result('lu_factor', 'LU', 'pivots'), _result('lu', 'P', 'L', 'U')
_LuFactorEx, _Eig = _result('lu_factor_ex', 'LU', 'pivots', 'info'), _result('eig', 'eigenvalues', 'eigenvectors')
_LuUnpack = collections.namedtuple('lu_unpack', 'P L U')
_InvEx, _CholeskyEx, _SolveEx = (_result('inv_ex', 'inverse', 'info'), _result('cholesky_ex', 'L', 'info'),
                                 _result('solve_ex', 'result', 'info'))
_Lstsq = _result('lstsq', 'solution', 'residuals', 'rank', 'singular_values')


def _check(name, a, square=False, takes_complex=False):
    if a.dim() < 2:
        raise RuntimeError(f'linalg.{name}: The input tensor A must have at least 2 dimensions.')
    if square and a.size(-1) != a.size(-2):
        raise RuntimeError(f'linalg.{name}: A must be batches of square matrices, but they are {a.size(-2)} by {a.size(-1)} '
                           'matrices')
    if a.is_complex() and not takes_complex:
        raise RuntimeError(f'linalg.{name} of complex matrices is not there yet')
    if not a.is_floating_point() and not a.is_complex():
        raise RuntimeError(f'linalg.{name}: Expected a floating point or complex tensor as input. Got {scalar_name(a)}')


def _rtol(a, rtol=None):
    eps = 2.0 ** -23 if a.dtype == _C.float32 else 2.0 ** -52
    return max(a.shape[-2:]) * eps if rtol is None else rtol


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


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    values = svdvals(A.detach())
    least = values.amax(-1, True) * _rtol(A, rtol if rtol is not None else 0 if atol or tol is not None else None)
    if atol is not None or tol is not None:
        least = least.clamp(min=float(tol if atol is None else atol))
    return (values > least).sum(-1)


# Equations.

def solve_ex(A, B, *, left=True, check_errors=False):
    _check('solve', A, True, True)
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and A.shape[:-1] == B.shape)
    rows, columns = (B.size(-1), 1) if vector else B.shape[-2:]
    if (rows if left else columns) != A.size(-1):
        raise RuntimeError(f'linalg.solve: Incompatible shapes of A and B for the equation {"AX = B" if left else "XA = B"} '
                           f'({A.size(-2)}x{A.size(-1)} and {rows}x{columns})')
    if not left:
        x, info = solve_ex(A.mT, B.mT)
        return _SolveEx(x.mT, info)
    batch = B.shape[:-1] if vector else B.shape[:-2]
    if A.shape[:-2] != batch:
        batch = (_C.zeros(A.shape[:-2]) + _C.zeros(batch)).shape
        A, B = A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-1 if vector else -2:])
    return _SolveEx(*equations.solve_ex(A, B))


def solve(A, B, *, left=True):
    x, info = solve_ex(A, B, left=left)
    check_info('torch.linalg.solve', info, 'The solver failed because the input matrix is singular.')
    return x


def inv_ex(A, *, check_errors=False):
    _check('inv', A, True, True)
    return _InvEx(*equations.inv_ex(A))


@checked
def inv(A):
    inverse, info = inv_ex(A)
    check_info('linalg.inv', info, 'The diagonal element {} is zero, the inversion could not be completed because the input '
                  'matrix is singular.')
    return inverse


def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    _check('solve_triangular', A, True, True)
    return equations.solve_triangular(A, B, upper, left, unitriangular)


@checked
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    _check('pinv', A)
    return of.pinv(A, _rtol(A, rtol if rcond is None else rcond))


def lstsq(A, B, rcond=None, *, driver=None):
    _check('lstsq', A)
    vector = B.dim() == A.dim() - 1
    right = B.unsqueeze(-1) if vector else B
    x, rank = of.lstsq(A, right, _rtol(A, rcond)), matrix_rank(A)
    residuals = _C.empty(0, dtype=A.dtype)
    if driver not in (None, 'gelsy') and A.size(-2) > A.size(-1) and (rank == A.size(-1)).all():
        apart = (A @ x - right).detach()
        residuals = (apart * apart).sum(-2)
    return _Lstsq(x.squeeze(-1) if vector else x, residuals, rank, _C.empty(0, dtype=A.dtype))


# Determinants and decompositions.

@checked
def det(A):
    _check('det', A, True)
    return of.det(A)


@checked
def slogdet(A):
    _check('slogdet', A, True)
    return _Slogdet(*of.slogdet(A))


@checked
def logdet(input):
    sign, log = slogdet(input)
    return _C.where(sign == -1, _C.tensor(math.nan, dtype=log.dtype), log)


def cholesky_ex(A, *, upper=False, check_errors=False):
    _check('cholesky', A, True)
    factor, info = of.cholesky_ex(A)
    return _CholeskyEx(factor.mT if upper else factor, info)


def cholesky(A, *, upper=False):
    factor, info = cholesky_ex(A, upper=upper)
    check_info('linalg.cholesky', info, 'The factorization could not be completed because the input is not '
                  'positive-definite (the leading minor of order {} is not positive-definite).')
    return factor


@checked
def qr(A, mode='reduced'):
    _check('qr', A)
    if mode not in ('reduced', 'complete', 'r'):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    q, r = of.qr(A, mode == 'complete')
    return _Qr(_C.empty(0, dtype=A.dtype) if mode == 'r' else q, r)


def eigh(A, UPLO='L'):
    _check('eigh', A, True, True)
    return _Eigh(*of.eigh(A.mT if UPLO.upper() == 'U' else A))


def eigvalsh(A, UPLO='L'):
    return eigh(A, UPLO)[0]


@checked
def svd(A, full_matrices=True, *, driver=None):
    _check('svd', A)
    return _Svd(*of.svd(A, full_matrices))


def svdvals(A, *, driver=None):
    _check('svdvals', A)
    return of.svd(A)[1]


@checked
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    _check('lu_factor', A, takes_complex=True)
    if not pivot:
        raise RuntimeError('linalg.lu_factor: LU without pivoting is not implemented on the CPU')
    return _LuFactorEx(*factors.lu_factor_ex(A))


def lu_factor(A, *, pivot=True):
    packed, pivots, info = lu_factor_ex(A, pivot=pivot)
    zero = info.reshape(-1).max().item() if info.numel() else 0
    if zero:
        raise RuntimeError(f'torch.linalg.lu_factor: U[{zero},{zero}] is zero and using it on lu_solve would result in a division '
                           'by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or '
                           'linalg.lu_factor_ex(A, pivot)')
    return _LuFactor(packed, pivots)


@checked
def lu(A, *, pivot=True):
    _check('lu', A, takes_complex=True)
    return _Lu(*factors.lu(A))


def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """By A = P L U, or by A^H = U^H L^H P^T."""
    _check('lu_solve', LU, True, True)
    return factors.lu_solve(LU, pivots, B, left, adjoint)


@checked
def eig(A):
    _check('eig', A, True, True)
    if not (_C.view_as_real(A) if A.is_complex() else A).isfinite().all():
        raise RuntimeError('torch.linalg.eig: input tensor should not contain infs or NaNs.')
    return _Eig(*eigen.eig(A))


def eigvals(A):
    _check('eig', A, True, True)
    return eigen.eig(A)[0]


@checked
def matrix_exp(A):
    _check('matrix_exp', A, True)
    return eigen.matrix_exp(A)


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
    factor = L.mT if upper else L
    return solve_triangular(factor.mT, solve_triangular(factor, B, upper=False), upper=True)


@checked
def cholesky_inverse(L, upper=False):
    return cholesky_solve(FUNCTIONS['eye'](L.size(-1), dtype=L.dtype), L, upper)


def _svd(input, some=True, compute_uv=True):
    u, s, vh = svd(input, not some)
    return _result('svd', 'U', 'S', 'V')(u, s, vh.mT)


def _qr(input, some=True):
    return qr(input, 'reduced' if some else 'complete')


@checked
def _lu_solve(b, LU_data, LU_pivots):
    return lu_solve(LU_data, LU_pivots, b)


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    return _LuUnpack(*factors.lu_unpack(LU_data, LU_pivots))


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
        'matrix_exp': matrix_exp, 'lu_solve': _lu_solve, 'adjoint': adjoint}
_C.add_methods(ROOT)
ROOT.update(lu_unpack=lu_unpack, vander=_vander, svd_lowrank=eigen.svd_lowrank, pca_lowrank=eigen.pca_lowrank)
