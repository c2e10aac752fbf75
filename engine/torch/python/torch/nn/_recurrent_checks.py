# SPDX-License-Identifier: LGPL-2.1-or-later
"""What recurrent layers refuse, with the words of PyTorch 2."""
import numbers
import warnings


def check_options(hidden_size, num_layers, dropout, proj_size, is_lstm):
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError('dropout should be a number in range [0, 1] representing the probability of an element being zeroed')
    if dropout > 0 and num_layers == 1:
        warnings.warn('dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers '
                      f'greater than 1, but got dropout={dropout} and num_layers={num_layers}', stacklevel=4)
    if not isinstance(hidden_size, int):
        raise TypeError(f'hidden_size should be of type int, got: {type(hidden_size).__name__}')
    for name, value in (('hidden_size', hidden_size), ('num_layers', num_layers)):
        if value <= 0:
            raise ValueError(f'{name} must be greater than zero')
    if proj_size and not is_lstm:
        raise ValueError('proj_size argument is only supported for LSTM, not RNN or GRU')
    if proj_size < 0:
        raise ValueError('proj_size should be a positive integer or zero to disable projections')
    if proj_size >= hidden_size:
        raise ValueError('proj_size has to be smaller than hidden_size')


def check_dims(module, input, states):
    """The dimensions of an input that is not packed, and of its first states."""
    kind, n_dims = type(module).__name__, input.dim()
    if n_dims not in (2, 3):
        raise ValueError(f'{kind}: Expected input to be 2D or 3D, got {n_dims}D{" tensor" * (kind == "RNN")} instead')
    if all(x.dim() == n_dims for x in states):
        return
    text = 'hx and cx' if len(states) == 2 else 'hx'
    got = f'({states[0].dim()}-D, {states[1].dim()}-D) tensors' if len(states) == 2 else f'{states[0].dim()}-D tensor'
    raise RuntimeError(f'For {"unbatched" if n_dims == 2 else "batched"} {n_dims}-D input, {text} should also be {n_dims}-D but '
                       f'got {got}')


def check_sizes(module, input, n_batch, states, sizes):
    """The last size of the input, and the sizes of the states: those of `sizes`, behind layers and batch."""
    weight = module.weight_ih_l0
    if input.dtype is not weight.dtype:
        raise ValueError(f'RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: '
                         f'input.to({weight.dtype}), or convert model: model.to({input.dtype})')
    if input.size(-1) != module.input_size:
        raise RuntimeError('input.size(-1) must be equal to input_size. '
                           f'Expected {module.input_size}, got {input.size(-1)}')
    for i, (state, size) in enumerate(zip(states, sizes)):
        expected = (module.num_layers * (1 + module.bidirectional), n_batch, size)
        if tuple(state.shape) != expected:
            name = f'hidden[{i}]' if len(states) == 2 else 'hidden'
            raise RuntimeError(f'Expected {name} size {expected}, got {list(state.shape)}')


def check_cell(module, input, states):
    """The input of a cell, and its first states."""
    kind = type(module).__name__
    if input.dim() not in (1, 2):
        raise ValueError(f'{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead')
    for i, state in enumerate(states):
        if state.dim() not in (1, 2):
            name = f'hx[{i}]' if len(states) == 2 else 'hidden'
            raise ValueError(f'{kind}: Expected {name} to be 1D or 2D, got {state.dim()}D instead')
    if input.size(-1) != module.input_size:
        raise RuntimeError(f'input has inconsistent input_size: got {input.size(-1)} expected {module.input_size}')
    for i, state in enumerate(states):
        n_batch, n_states = (x.size(0) if input.dim() == 2 else 1 for x in (input, state))
        if n_batch != n_states:
            raise RuntimeError(f"Input batch size {n_batch} doesn't match hidden{i} batch size {n_states}")
        if state.size(-1) != module.hidden_size:
            raise RuntimeError(f'hidden{i} has inconsistent hidden_size: got {state.size(-1)}, expected {module.hidden_size}')
