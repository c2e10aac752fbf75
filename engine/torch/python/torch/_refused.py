# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which functions that Python composes refuse which dtypes, in PyTorch's words. Those of C are in refused.def."""
import functools

from torch import _C
from torch._C import Tensor

_HALVES = {_C.float16, _C.bfloat16}
_INTEGERS = {_C.uint8, _C.int8, _C.int16, _C.int32, _C.int64}
_BOOL = {_C.bool}
_COMPLEX = {_C.complex64, _C.complex128}
_WHOLE = _INTEGERS | _BOOL
_TOO_NARROW = 'Low precision dtypes not supported. Got {}'
_NO_BOOL_IN = 'trapezoid: received a bool input for `y`, but bool is not supported'

# The name, and for dtypes of the first tensor: PyTorch's name of the kernel that it lacks, or all that it says. {} is the
# dtype.
_TABLE = {
    'adaptive_max_pool1d': [(_WHOLE, 'adaptive_max_pool2d')],
    'adaptive_max_pool2d': [(_WHOLE, 'adaptive_max_pool2d')],
    'avg_pool3d': [(_HALVES | _WHOLE - {_C.int64}, 'avg_pool3d_out_frame')],
    'bincount': [({_C.float32, _C.float64} | _HALVES | _BOOL | _COMPLEX, 'bincount_cpu')],
    'bucketize': [(_BOOL, 'searchsorted_out_cpu')],
    'cdist': [(_HALVES, 'cdist'), (_COMPLEX, 'cdist only supports floating-point dtypes, X1 got: {}')],
    'cholesky_inverse': [(_HALVES | _WHOLE, 'cholesky_inverse_out_cpu')],
    'cholesky_solve': [(_HALVES | _WHOLE, 'cholesky_solve_cpu')],
    'copysign': [(_COMPLEX, 'copysign_cpu')],
    '_cholesky': [(_HALVES | _WHOLE, 'cholesky_cpu')],
    'cross': [(_BOOL, 'cross')],
    'ctc_loss': [(_HALVES, 'ctc_loss_cpu')],
    'det': [(_HALVES, 'lu_cpu')],
    'lu': [(_HALVES | _WHOLE, 'lu_cpu')],
    'lu_factor_ex': [(_HALVES | _WHOLE, 'lu_cpu')],
    'fmax': [(_COMPLEX, 'fmax not implemented for complex tensors.')],
    'fmin': [(_COMPLEX, 'fmin not implemented for complex tensors.')],
    'fold': [(_INTEGERS, 'col2im_out_cpu')],
    'glu': [(_WHOLE, 'glu_cpu')],
    'gumbel_softmax': [(_WHOLE, 'Exponential distribution is a continuous probability distribution. dtype must be a floating '
                                'point but you specified {}')],
    'histc': [(_BOOL, 'linspace_cpu'), (_INTEGERS, 'histogram_cpu')],
    'hypot': [(_WHOLE | _COMPLEX, 'hypot_cpu')],
    'interpolate': [(_WHOLE - {_C.uint8}, 'upsample_nearest2d_channels_last')],
    'isin': [(_COMPLEX, 'Unsupported input type encountered for isin(): {}')],
    'isneginf': [(_COMPLEX, 'isneginf does not support complex inputs.')],
    'isposinf': [(_COMPLEX, 'isposinf does not support complex inputs.')],
    'inv': [(_HALVES, 'linalg.inv: ' + _TOO_NARROW)],
    'logaddexp': [(_WHOLE, 'logaddexp_cpu')],
    'logcumsumexp': [(_WHOLE, 'logcumsumexp_out_cpu')],
    'logdet': [(_HALVES, 'logdet: ' + _TOO_NARROW)],
    'max_pool3d': [(_BOOL, 'max_pool3d')],
    'max_pool3d_with_indices': [(_BOOL, 'max_pool3d')],
    'multi_margin_loss': [(_HALVES | _WHOLE, 'multi_margin_loss_cpu_kernel')],
    'nanmean': [(_WHOLE, 'nanmean(): expected input to have floating point or complex dtype but got {}')],
    'orthogonal_': [(_HALVES, 'geqrf_cpu')],
    'pinv': [(_HALVES, 'linalg.pinv: expected a tensor of float, double, cfloat or cdouble types, but got {}')],
    'positive': [(_BOOL, 'The `+` operator, on a bool tensor is not supported.')],
    'prelu': [(_WHOLE, 'prelu_cpu')],
    'qr': [(_HALVES, 'geqrf_cpu')],
    'quantile': [(_HALVES | _WHOLE | _COMPLEX, 'quantile() input tensor must be either float or double dtype')],
    'rms_norm': [(_WHOLE, 'rms_norm')],
    'rrelu': [(_WHOLE, 'leaky_relu_cpu')],
    'searchsorted': [(_BOOL, 'searchsorted_out_cpu')],
    'slogdet': [(_HALVES, 'linalg.slogdet: ' + _TOO_NARROW)],
    'soft_margin_loss': [(_INTEGERS, "result type Float can't be cast to the desired output type {}")],
    'svd': [(_HALVES, 'linalg_svd_cpu')],
    'trace': [(_BOOL, 'trace')],
    'trapezoid': [(_BOOL, _NO_BOOL_IN)],
    'trapz': [(_BOOL, _NO_BOOL_IN)],
}


def scalar_name(tensor):
    """'Half', as in error texts."""
    return _C.scalar_type(tensor.dtype)


def _check(rows, tensor):
    for dtypes, kernel in rows:
        if tensor.dtype not in dtypes:
            continue
        if ' ' in kernel:
            raise RuntimeError(kernel.format(scalar_name(tensor)))
        raise NotImplementedError(f'"{kernel}" not implemented for \'{scalar_name(tensor)}\'')


def checked(operation):
    """The operation, which refuses what its row says."""
    rows = _TABLE.get(operation.__name__)
    if rows is None:
        return operation

    @functools.wraps(operation)
    def refusing(input, *args, **named):
        if isinstance(input, Tensor):
            _check(rows, input)
        return operation(input, *args, **named)
    return refusing
