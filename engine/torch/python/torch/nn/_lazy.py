# SPDX-License-Identifier: LGPL-2.1-or-later
"""Modules that learn the size of their input from the first one. From then on they are ordinary modules."""
from torch import _C
from torch.nn import parameter
from torch.nn._convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from torch.nn._linear import Linear
from torch.nn._normalization import (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d,
                                     InstanceNorm3d)
from torch.nn.parameter import Parameter

_NO_SHAPE = ("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
             '`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` to '
             'initialize the parameters before accessing their attributes.')
_NO_USE = ("Attempted to use an uninitialized parameter in <method '{}' of 'torch._C.TensorBase' objects>. This error happens "
           'when you are using a `LazyModule` or explicitly manipulating `torch.nn.parameter.{}` objects. When using '
           'LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions')


class _Uninitialized:
    """A tensor without a size."""

    @property
    def shape(self):
        raise RuntimeError(_NO_SHAPE)

    def detach(self):
        return self

    def __repr__(self):
        return f'<{type(self).__name__}>'

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, device=self.device, dtype=self.dtype)
        return memo[id(self)]


def _refusing(name):
    def refuse(self, *args, **kwargs):
        raise ValueError(_NO_USE.format(name.strip('_') if name.startswith('__') else name, type(self).__name__))
    return refuse


for _name in ('numel dim ndimension mean sum std var norm abs exp sqrt t view reshape flatten requires_grad_ normal_ uniform_ fill_ zero_ mul_ '
              'add_ __add__ __sub__ __mul__ __matmul__ __truediv__ __neg__ __pow__').split():
    setattr(_Uninitialized, _name, _refusing(_name))


class UninitializedParameter(_Uninitialized, Parameter):
    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)

    def materialize(self, shape, device=None, dtype=None):
        """Gives it a size. It is an ordinary parameter then."""
        self.__class__ = Parameter
        self.data = _C.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)


class UninitializedBuffer(_Uninitialized, _C.Tensor):
    def __new__(cls, requires_grad=False, device=None, dtype=None):
        return _C._make_subclass(cls, _C.empty(0, device=device, dtype=dtype), requires_grad)


class LazyModuleMixin:
    """A class says what it becomes (_becomes), and takes the sizes (_take) from an input or a saved weight."""

    def _wait(self):
        for tensors, kind in ((self._parameters, UninitializedParameter), (self._buffers, UninitializedBuffer)):
            for name, tensor in tensors.items():
                if tensor is not None and name != 'num_batches_tracked':
                    tensors[name] = kind(device=tensor.device, dtype=tensor.dtype)
        self.register_forward_pre_hook(_learn)

    def reset_parameters(self):
        """There is nothing to reset before the first input."""

    def has_uninitialized_params(self):
        return any(isinstance(tensor, _Uninitialized) for tensor in (*self._parameters.values(), *self._buffers.values()))

    def _materialize(self, **shapes):
        for name, shape in shapes.items():
            if isinstance(getattr(self, name), UninitializedParameter):
                getattr(self, name).materialize(shape)
            elif name in self._buffers and self._buffers[name] is not None:
                self._buffers[name] = _C.empty(shape, dtype=self._buffers[name].dtype)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        if self.has_uninitialized_params():
            self._materialize(**{name: state_dict[prefix + name].size() for name in (*self._parameters, *self._buffers)
                                 if prefix + name in state_dict})
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _learn(module, inputs):
    for id_ in [id_ for id_, hook in module._forward_pre_hooks.items() if hook is _learn]:
        del module._forward_pre_hooks[id_]
    waited = module.has_uninitialized_params()
    module._take(inputs[0])
    module.__class__ = module._becomes
    if waited:
        module.reset_parameters()


class LazyLinear(LazyModuleMixin, Linear):
    _becomes = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        Linear.__init__(self, 0, 0, bias, device, dtype)
        self.out_features = out_features
        self._wait()

    def _take(self, input):
        self.in_features = input.shape[-1]
        self._materialize(weight=(self.out_features, self.in_features), bias=(self.out_features,))


class _LazyConvolution(LazyModuleMixin):
    def __init__(self, out_channels, kernel_size, *args, **settings):
        self._becomes.__init__(self, 0, 0, kernel_size, *args, **settings)
        self.out_channels = out_channels
        self._wait()

    def _take(self, input):
        self.in_channels = input.shape[-1 - self._n_dims]
        pair = ((self.in_channels, self.out_channels // self.groups) if self._transposed
                else (self.out_channels, self.in_channels // self.groups))
        self._materialize(weight=(*pair, *self.kernel_size), bias=(self.out_channels,))


class _LazyNorm(LazyModuleMixin):
    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, **settings):
        self._becomes.__init__(self, 0, eps, momentum, affine, track_running_stats, **settings)
        self._wait()

    def _take(self, input):
        self._check_input_dim(input)
        self.num_features = input.shape[1]
        self._materialize(**dict.fromkeys(('weight', 'bias', 'running_mean', 'running_var'), (self.num_features,)))


LAZY = {'LazyLinear': LazyLinear}
LAZY.update({'Lazy' + kind.__name__: type('Lazy' + kind.__name__, (base, kind), {'_becomes': kind, '__module__': __name__})
             for base, kinds in (
                 (_LazyConvolution, (Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)),
                 (_LazyNorm, (BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)))
             for kind in kinds})
globals().update(LAZY)

for _kind in (UninitializedParameter, UninitializedBuffer):  # pickles name PyTorch's file of them
    _kind.__module__ = parameter.__name__
    setattr(parameter, _kind.__name__, _kind)
