# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recurrent layers and cells, made of the same operations as in PyTorch 1.13 on the CPU."""
import math

from torch import _C
from torch.nn import functional as F, init
from torch.nn._module import Module
from torch.nn.parameter import Parameter
from torch.nn._recurrent_checks import check_cell, check_dims, check_options, check_sizes
from torch.nn.utils.rnn import PackedSequence


def _lstm_step(gates_of_input, state, w_hh, b_hh):
    h, c = state
    i, f, g, o = (F.linear(h, w_hh, b_hh) + gates_of_input()).unsafe_chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    h = o * c.tanh()
    return h, (h, c)


def _projected(step, w_hr):
    """A step of an LSTM whose h is projected."""
    def run(gates_of_input, state, w_hh, b_hh):
        h, (h, c) = step(gates_of_input, state, w_hh, b_hh)
        h = h.matmul(w_hr.t())
        return h, (h, c)
    return run


def _gru_step(gates_of_input, h, w_hh, b_hh):
    x_r, x_z, x_n = gates_of_input().unsafe_chunk(3, 1)
    h_r, h_z, h_n = F.linear(h, w_hh, b_hh).unsafe_chunk(3, 1)
    r = (h_r + x_r).sigmoid()
    z = (h_z + x_z).sigmoid()
    n = (x_n + h_n.mul_(r)).tanh()
    h = (h - n).mul_(z) + n
    return h, h


def _simple_step(activation):
    def step(gates_of_input, h, w_hh, b_hh):
        h = activation(F.linear(h, w_hh, b_hh) + gates_of_input())
        return h, h
    return step


def _each(state, function):
    """Of a hidden state, or of the two of an LSTM."""
    return function(state) if isinstance(state, _C.Tensor) else tuple(map(function, state))


def _each_inside(state, function):
    """The same in the order of PyTorch's C++: c before h."""
    if isinstance(state, _C.Tensor):
        return function(state)
    h, c = state
    c = function(c)
    return function(h), c


def _joined(states):
    if isinstance(states[0], tuple):
        return _each_inside(zip(*states), lambda parts: _C.cat(parts, 0))
    return _C.cat(states, 0)


# For each mode: gates per hidden unit, and one step from (gates_of_input, state, weight, bias) to (output, state).
# gates_of_input() returns the product with the input. A cell computes it there, so that the order of products is
# PyTorch's.
_MODES = {'LSTM': (4, _lstm_step), 'GRU': (3, _gru_step), 'RNN_TANH': (1, _simple_step(F.tanh)),
          'RNN_RELU': (1, _simple_step(F.relu))}


def _reset(module):
    bound = 1.0 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for p in module.parameters():
        init.uniform_(p, -bound, bound)


class _Recurrent(Module):
    """Its parameters are weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, then those of layer 1. The names of the
    other direction end in _reverse."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        check_options(hidden_size, num_layers, dropout, proj_size, self.mode == 'LSTM')
        self._settings = {'device': device, 'dtype': dtype}
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self.proj_size, (self._n_gates, self._step) = proj_size, _MODES[self.mode]
        self._suffixes = ['', '_reverse'][:1 + bidirectional]
        for layer in range(num_layers):
            for suffix in self._suffixes:
                self._add_layer(f'_l{layer}{suffix}', input_size if layer == 0 else self._n_outputs * len(self._suffixes))
        self.reset_parameters()

    def reset_parameters(self):
        _reset(self)

    def flatten_parameters(self):
        """Does nothing: only for GPUs the weights of all layers should lie together."""

    @property
    def _n_outputs(self):
        return self.proj_size or self.hidden_size

    @property
    def all_weights(self):
        kinds = ('weight_ih', 'weight_hh', *('bias_ih', 'bias_hh') * self.bias, *('weight_hr',) * bool(self.proj_size))
        return [[getattr(self, f'{kind}_l{layer}{suffix}') for kind in kinds]
                for layer in range(self.num_layers) for suffix in self._suffixes]

    def _add_layer(self, name, n_inputs):
        rows = self._n_gates * self.hidden_size
        self.register_parameter('weight_ih' + name, Parameter(_C.empty(rows, n_inputs, **self._settings)))
        self.register_parameter('weight_hh' + name, Parameter(_C.empty(rows, self._n_outputs, **self._settings)))
        if self.bias:
            self.register_parameter('bias_ih' + name, Parameter(_C.empty(rows, **self._settings)))
            self.register_parameter('bias_hh' + name, Parameter(_C.empty(rows, **self._settings)))
        if self.proj_size:
            projection = _C.empty(self.proj_size, self.hidden_size, **self._settings)
            self.register_parameter('weight_hr' + name, Parameter(projection))

    def _step_of(self, name):
        return _projected(self._step, getattr(self, 'weight_hr' + name)) if self.proj_size else self._step

    def _weights(self, name):
        biases = ('bias_ih', 'bias_hh') if self.bias else ()
        found = [getattr(self, kind + name) for kind in ('weight_ih', 'weight_hh', *biases)]
        return found if self.bias else [*found, None, None]

    def _run(self, input, name, state, backwards):
        """One layer in one direction: input [time, batch, size]. One product with the input serves all times."""
        w_ih, w_hh, b_ih, b_hh = self._weights(name)
        outputs, step = [], self._step_of(name)
        times = F.linear(input, w_ih, b_ih).unbind(0)
        for gates in reversed(times) if backwards else times:
            output, state = step(lambda: gates, state, w_hh, b_hh)
            outputs.append(output)
        return _C.stack(outputs[::-1] if backwards else outputs, 0), state

    def _run_packed(self, data, sizes, name, state, backwards):
        """The same for packed sequences: at each time, only those that still run."""
        w_ih, w_hh, b_ih, b_hh = self._weights(name)
        step = self._step_of(name)
        product, outputs, finished, at, n = F.linear(data, w_ih, b_ih), [], [], 0, sizes[0]
        if backwards:
            at, n, begin, state = data.size(0), sizes[-1], state, _each_inside(state, lambda h: h.narrow(0, 0, sizes[-1]))
        for size in reversed(sizes) if backwards else sizes:
            if size > n:
                state = _joined([state, _each_inside(begin, lambda h: h.narrow(0, n, size - n))])
            at = at - size if backwards else at
            gates = product.narrow(0, at, size)
            at = at if backwards else at + size
            if size < n:
                finished.append(_each_inside(state, lambda h: h.narrow(0, size, n - size)))
                state = _each_inside(state, lambda h: h.narrow(0, 0, size))
            n = size
            output, state = step(lambda: gates, state, w_hh, b_hh)
            outputs.append(output)
        finished.append(state)
        return _C.cat(outputs[::-1] if backwards else outputs, 0), state if backwards else _joined(finished[::-1])

    def _layers(self, input, run):
        """run(input, name, number, backwards) computes one layer in one direction."""
        final = []
        for layer in range(self.num_layers):
            directions = []
            for suffix in self._suffixes:
                output, state = run(input, f'_l{layer}{suffix}', len(final), suffix != '')
                directions.append(output)
                final.append(state)
            input = directions[0] if len(directions) == 1 else _C.cat(directions, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, True)
        return input, final

    def _forward_packed(self, packed, hx):
        data, sizes, order, back = packed
        sizes = sizes.tolist()
        hx = hx if hx is None or order is None else _each(hx, lambda h: h.index_select(1, order))
        self._check_sizes(data, sizes[0], hx)
        states = self._begin(data.unsqueeze(0).narrow(1, 0, sizes[0]), hx)
        output, final = self._layers(data, lambda input, name, number, backwards: self._run_packed(
            input, sizes, name, states[number], backwards))
        final = self._end(final)
        final = final if back is None else _each(final, lambda h: h.index_select(1, back))
        return PackedSequence(output, *packed[1:]), final

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        check_dims(self, input, self._states_of(hx))
        unbatched, batch_dim = input.dim() == 2, 0 if self.batch_first else 1
        if unbatched:
            input = input.unsqueeze(batch_dim)
        if hx is not None and unbatched:
            hx = _each(hx, lambda h: h.unsqueeze(1))
        self._check_sizes(input, input.size(batch_dim), hx)
        output, final = self._sequence(input, hx)
        if unbatched:
            return output.squeeze(batch_dim), _each(final, lambda h: h.squeeze(1))
        return output, final

    def _states_of(self, hx):
        return () if hx is None else (hx,)

    def _check_sizes(self, input, n_batch, hx):
        check_sizes(self, input, n_batch, self._states_of(hx), (self._n_outputs, self.hidden_size))

    def _sequence(self, input, hx):
        input = input.transpose(0, 1) if self.batch_first else input
        if input.size(0) == 0:
            raise RuntimeError('Expected sequence length to be larger than 0 in RNN')
        states = self._begin(input, hx)
        output, final = self._layers(input, lambda input, name, number, backwards: self._run(
            input, name, states[number], backwards))
        final = self._end(final)
        return self._batch_first(output), final

    def _batch_first(self, output):
        return output.transpose_(0, 1) if self.batch_first else output

    def _zeros(self, input, size):
        return _C.zeros(self.num_layers * len(self._suffixes), input.size(1), size, dtype=input.dtype)

    def _begin(self, input, hx):
        """The first states of each layer and direction. hx may be None."""
        return (self._zeros(input, self.hidden_size) if hx is None else hx).unbind(0)

    def _end(self, final):
        return _C.stack(final, 0)

    def extra_repr(self):
        text = f'{self.input_size}, {self.hidden_size}'
        for name, usual in (('proj_size', 0), ('num_layers', 1), ('bias', True), ('batch_first', False), ('dropout', 0.0),
                            ('bidirectional', False)):
            text += f', {name}={getattr(self, name)}' if getattr(self, name) != usual else ''
        return text


class RNN(_Recurrent):
    def __init__(self, *args, nonlinearity='tanh', **kwargs):
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        if nonlinearity not in ('tanh', 'relu'):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        object.__setattr__(self, 'mode', 'RNN_' + nonlinearity.upper())
        super().__init__(*args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(_Recurrent):
    mode = 'GRU'


class LSTM(_Recurrent):
    mode = 'LSTM'

    def _states_of(self, hx):
        return () if hx is None else tuple(hx)

    def _begin(self, input, hx):
        h, c = (self._zeros(input, self._n_outputs), None) if hx is None else hx
        return list(zip(super()._begin(input, h), super()._begin(input, c)))

    def _end(self, final):
        return _each_inside(zip(*final), super()._end)

    def _batch_first(self, output):
        return output.transpose(0, 1) if self.batch_first else output

    def _is_fused(self, input, hx):
        """Whether PyTorch's library for the CPU computes whole layers, and makes one node of each."""
        tensors = (input, *(hx or ()), *(p for weights in self.all_weights for p in weights))
        return _C.policy('layers_of_lstm') and not self.proj_size and input.numel() > 0 and all(
            x.dtype is _C.float32 and x.device.type == 'cpu' for x in tensors)

    def _sequence(self, input, hx):
        if not self._is_fused(input, hx):
            return super()._sequence(input, hx)
        input = (input.transpose(0, 1) if self.batch_first else input).contiguous()
        h, c = (self._zeros(input, self.hidden_size),) * 2 if hx is None else (x.contiguous() for x in hx)

        def run(input, name, number, backwards):
            output, *state = _C._lstm_layer(input, *self._weights(name), h[number], c[number], backwards)
            return output, state

        output, final = self._layers(input, run)
        final = tuple(_C.stack(states, 0) for states in zip(*final))
        return self._batch_first(output), final


class _Cell(Module):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        n_gates, self._step = _MODES[self.mode]
        settings = {'device': device, 'dtype': dtype}
        self.weight_ih = Parameter(_C.empty(n_gates * hidden_size, input_size, **settings))
        self.weight_hh = Parameter(_C.empty(n_gates * hidden_size, hidden_size, **settings))
        for name in ('bias_ih', 'bias_hh'):
            self.register_parameter(name, Parameter(_C.empty(n_gates * hidden_size, **settings)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        _reset(self)

    def _begin(self, input, hx):
        return _C.zeros(input.size(0), self.hidden_size, dtype=input.dtype) if hx is None else hx

    def _states_of(self, hx):
        return () if hx is None else (hx,)

    def forward(self, input, hx=None):
        check_cell(self, input, self._states_of(hx))
        is_one = input.dim() == 1
        if is_one:
            input, hx = input.unsqueeze(0), hx if hx is None else _each(hx, lambda h: h.unsqueeze(0))
        state = self._step(lambda: F.linear(input, self.weight_ih, self.bias_ih), self._begin(input, hx), self.weight_hh,
                           self.bias_hh)[1]
        return _each(state, lambda h: h.squeeze(0)) if is_one else state

    def extra_repr(self):
        return f'{self.input_size}, {self.hidden_size}' + ('' if self.bias else f', bias={self.bias}')


class RNNCell(_Cell):
    mode = 'RNN_TANH'


class GRUCell(_Cell):
    mode = 'GRU'


class LSTMCell(_Cell):
    mode = 'LSTM'

    def _states_of(self, hx):
        return () if hx is None else tuple(hx)

    def _begin(self, input, hx):
        zeros = super()._begin(input, None)
        return (zeros, zeros) if hx is None else hx
