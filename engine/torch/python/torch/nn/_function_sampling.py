# SPDX-License-Identifier: LGPL-2.1-or-later
"""Functions that read images at the places of a grid."""
import warnings

from torch import _C

GRID_SAMPLE_INTERPOLATION_MODES = {'bilinear': 0, 'nearest': 1, 'bicubic': 2}
GRID_SAMPLE_PADDING_MODES = {'zeros': 0, 'border': 1, 'reflection': 2}


def _align(function, align_corners):
    if align_corners is None:
        warnings.warn(f'Default {function} behavior has changed to align_corners=False since 1.3.0. Please specify '
                      f'align_corners=True if the old behavior is desired. See the documentation of {function} for details.',
                      stacklevel=3)
    return bool(align_corners)


def grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None):
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
                         f"'{mode}'")
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but "
                         f"got: '{padding_mode}'")
    align = _align('grid_sample', align_corners)
    modes = GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode], align
    if input.dtype in (_C.float16, _C.bfloat16) and grid.dtype is input.dtype:
        return _C.grid_sampler(input.float(), grid.float(), *modes).to(input.dtype)
    return _C.grid_sampler(input, grid, *modes)


def _check_theta(theta, size, n_dims):
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n_dims, n_dims + 1):
        raise ValueError(f'Expected a batch of {n_dims}D affine matrices of shape Nx{n_dims}x{n_dims + 1} for size {size}. '
                         f'Got {theta.shape}.')
    if min(size) <= 0:
        raise ValueError(f'Expected non-zero, positive output size. Got {size}')


def affine_grid(theta, size, align_corners=None):
    align = _align('affine_grid', align_corners)
    if not theta.is_floating_point():
        raise ValueError(f'Expected theta to have floating point type, but got {theta.dtype}')
    if len(size) not in (4, 5):
        raise NotImplementedError('affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. '
                                  f'Got size {size}.')
    _check_theta(theta, size, len(size) - 2)
    return _C.affine_grid_generator(theta, size, align)
