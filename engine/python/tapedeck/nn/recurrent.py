# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recurrent layers and cells, made of the same operations as in PyTorch 1.13 on the CPU."""
import math

from tapedeck import _C
from tapedeck.nn import functional as F, init
from tapedeck.nn.module import Module
from tapedeck.nn.parameter import Parameter


def _lstm_step(gates_of_input, state, w_hh, b_hh):
    h, c = state
    i, f, g, o = (F.linear(h, w_hh, b_hh) + gates_of_input()).unsafe_chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    c = f * c + i * g
    h = o * c.tanh()
    return h, (h, c)


def _gru_step(gates_of_input, h, w_hh, b_hh):
    x_r, x_z, x_n = gates_of_input().unsafe_chunk(3, 1)
    h_r, h_z, h_n = F.linear(h, w_hh, b_hh).unsafe_chunk(3, 1)
    r = (h_r + x_r).sigmoid()
    z = (h_z + x_z).sigmoid()
    n = (x_n + h_n * r).tanh()
    h = (h - n) * z + n
    return h, h


def _simple_step(activation):
    def step(gates_of_input, h, w_hh, b_hh):
        h = activation(F.linear(h, w_hh, b_hh) + gates_of_input())
        return h, h
    return step


# For each mode: gates per hidden unit, and one step from (gates_of_input, state, weight, bias) to (output, state).
# gates_of_input() returns the product with the input. A cell computes it there, so that the order of products is
# PyTorch's.
_MODES = {'LSTM': (4, _lstm_step), 'GRU': (3, _gru_step), 'RNN_TANH': (1, _simple_step(F.tanh)),
          'RNN_RELU': (1, _simple_step(F.relu))}


class _Recurrent(Module):
    """Its parameters are weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, then those of layer 1. The names of the
    other direction end in _reverse."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False):
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional = batch_first, float(dropout), bidirectional
        self._n_gates, self._step = _MODES[self.mode]
        self._suffixes = ['', '_reverse'][:1 + bidirectional]
        for layer in range(num_layers):
            for suffix in self._suffixes:
                self._add_layer(f'_l{layer}{suffix}', input_size if layer == 0 else hidden_size * len(self._suffixes))
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _add_layer(self, name, n_inputs):
        rows = self._n_gates * self.hidden_size
        self.register_parameter('weight_ih' + name, Parameter(_C.empty(rows, n_inputs)))
        self.register_parameter('weight_hh' + name, Parameter(_C.empty(rows, self.hidden_size)))
        if self.bias:
            self.register_parameter('bias_ih' + name, Parameter(_C.empty(rows)))
            self.register_parameter('bias_hh' + name, Parameter(_C.empty(rows)))

    def _run(self, input, name, state, backwards):
        """One layer in one direction: input [time, batch, size]. One product with the input serves all times."""
        w_ih, w_hh = (getattr(self, kind + name) for kind in ('weight_ih', 'weight_hh'))
        b_ih, b_hh = (getattr(self, kind + name) if self.bias else None for kind in ('bias_ih', 'bias_hh'))
        outputs = []
        times = F.linear(input, w_ih, b_ih).unbind(0)
        for gates in reversed(times) if backwards else times:
            output, state = self._step(lambda: gates, state, w_hh, b_hh)
            outputs.append(output)
        return _C.stack(outputs[::-1] if backwards else outputs, 0), state

    def _layers(self, input, states):
        """states has one entry per layer and direction."""
        final = []
        for layer in range(self.num_layers):
            directions = []
            for suffix in self._suffixes:
                output, state = self._run(input, f'_l{layer}{suffix}', states[len(final)], suffix != '')
                directions.append(output)
                final.append(state)
            input = directions[0] if len(directions) == 1 else _C.cat(directions, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, True)
        return input, final

    def forward(self, input, hx=None):
        unbatched = input.dim() == 2
        if unbatched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        output, final = self._layers(input, self._begin(input, hx, unbatched))
        if unbatched:
            output = output.squeeze(1)
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, self._end(final, unbatched)

    def _zeros(self, input):
        return _C.zeros(self.num_layers * len(self._suffixes), input.size(1), self.hidden_size, dtype=input.dtype)

    def _begin(self, input, hx, unbatched):
        hx = self._zeros(input) if hx is None else hx.unsqueeze(1) if unbatched else hx
        return hx.unbind(0)

    def _end(self, final, unbatched):
        h = _C.stack(final, 0)
        return h.squeeze(1) if unbatched else h

    def extra_repr(self):
        text = f'{self.input_size}, {self.hidden_size}'
        for name, usual in (('num_layers', 1), ('bias', True), ('batch_first', False), ('dropout', 0.0),
                            ('bidirectional', False)):
            text += f', {name}={getattr(self, name)}' if getattr(self, name) != usual else ''
        return text


class RNN(_Recurrent):
    def __init__(self, *args, nonlinearity='tanh', **kwargs):
        if nonlinearity not in ('tanh', 'relu'):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'")
        object.__setattr__(self, 'mode', 'RNN_' + nonlinearity.upper())
        super().__init__(*args, **kwargs)


class GRU(_Recurrent):
    mode = 'GRU'


class LSTM(_Recurrent):
    mode = 'LSTM'

    def _begin(self, input, hx, unbatched):
        h, c = (None, None) if hx is None else hx
        return list(zip(super()._begin(input, h, unbatched), super()._begin(input, c, unbatched)))

    def _end(self, final, unbatched):
        return tuple(super(LSTM, self)._end([state[i] for state in final], unbatched) for i in range(2))


class _Cell(Module):
    def __init__(self, input_size, hidden_size, bias=True):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        n_gates, self._step = _MODES[self.mode]
        self.weight_ih = Parameter(_C.empty(n_gates * hidden_size, input_size))
        self.weight_hh = Parameter(_C.empty(n_gates * hidden_size, hidden_size))
        for name in ('bias_ih', 'bias_hh'):
            self.register_parameter(name, Parameter(_C.empty(n_gates * hidden_size)) if bias else None)
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _begin(self, input, hx):
        return _C.zeros(input.size(0), self.hidden_size, dtype=input.dtype) if hx is None else hx

    def forward(self, input, hx=None):
        return self._step(lambda: F.linear(input, self.weight_ih, self.bias_ih), self._begin(input, hx), self.weight_hh,
                          self.bias_hh)[1]

    def extra_repr(self):
        return f'{self.input_size}, {self.hidden_size}' + ('' if self.bias else f', bias={self.bias}')


class RNNCell(_Cell):
    mode = 'RNN_TANH'


class GRUCell(_Cell):
    mode = 'GRU'


class LSTMCell(_Cell):
    mode = 'LSTM'

    def _begin(self, input, hx):
        zeros = super()._begin(input, None)
        return (zeros, zeros) if hx is None else hx
