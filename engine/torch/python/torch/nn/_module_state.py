# SPDX-License-Identifier: LGPL-2.1-or-later
"""A module's state: dictionaries of its parameters and buffers by their full names; and what converts all of them."""
import collections
import collections.abc
import itertools

from torch import _C
from torch._C import Tensor
from torch.autograd import no_grad
from torch.nn.parameter import Parameter

_EXTRA = '_extra_state'


class _IncompatibleKeys(collections.namedtuple('IncompatibleKeys', ['missing_keys', 'unexpected_keys'])):
    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else '<All keys matched successfully>'

    __str__ = __repr__


class _WithMetadata(collections.OrderedDict):
    """A state_dict has a version for each module, in _metadata."""


class State:
    """What Module has of it."""
    _version = 1

    def _local_state(self):
        """Parameters and persistent buffers of this module alone."""
        kept = ((name, b) for name, b in self._buffers.items() if name not in self._non_persistent_buffers_set)
        return {name: value for name, value in itertools.chain(self._parameters.items(), kept) if value is not None}

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._local_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if hasattr(type(self), 'get_extra_state'):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix='', keep_vars=False):
        destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = collections.OrderedDict()
            destination._metadata = collections.OrderedDict()
        metadata = {'version': self._version}
        if hasattr(destination, '_metadata'):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f'{prefix}{name}.', keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, metadata)
            if changed is not None and getattr(hook, '_from_public_api', False):
                raise RuntimeError('state_dict post-hook must return None')
            destination = destination if changed is None else changed
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        local, assign = self._local_state(), local_metadata.get('assign_to_params_buffers', False)
        for name, mine in local.items():
            if prefix + name in state_dict:
                self._load_one(prefix + name, name, mine, state_dict[prefix + name], assign, error_msgs)
            elif strict:
                missing_keys.append(prefix + name)
        self._load_extra(state_dict, prefix + _EXTRA, strict, missing_keys, unexpected_keys)
        for key in state_dict if strict else ():
            if key.startswith(prefix) and key != prefix + _EXTRA:
                first, *rest = key[len(prefix):].split('.', 1)
                if first not in (self._modules if rest else local):
                    unexpected_keys.append(key)

    def _load_extra(self, state_dict, key, strict, missing_keys, unexpected_keys):
        if hasattr(type(self), 'set_extra_state'):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    @no_grad()
    def _load_one(self, key, name, mine, loaded, assign, error_msgs):
        if not isinstance(loaded, Tensor):
            error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                              f'from checkpoint but received {type(loaded)}')
            return
        if mine.dim() == 0 and tuple(loaded.shape) == (1,):
            loaded = loaded[0]
        if loaded.shape != mine.shape:
            error_msgs.append(f'size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the '
                              f'shape in current model is {mine.shape}.')
        elif not assign:
            mine.copy_(loaded)
        elif isinstance(mine, Parameter):
            setattr(self, name, loaded.requires_grad_(mine.requires_grad) if isinstance(loaded, Parameter)
                    else Parameter(loaded, mine.requires_grad))
        else:
            setattr(self, name, loaded)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values into parameters and buffers, or puts the tensors in their place."""
        if not isinstance(state_dict, collections.abc.Mapping):
            raise TypeError(f'Expected state_dict to be dict-like, got {type(state_dict)}.')
        metadata, missing, unexpected, errors = getattr(state_dict, '_metadata', None), [], [], []
        state_dict = _WithMetadata(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, local, prefix):
            own = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                own['assign_to_params_buffers'] = assign
            module._load_from_state_dict(local, prefix, own, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = f'{prefix}{name}.'
                    load(child, {key: value for key, value in local.items() if key.startswith(below)}, below)
            keys = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError('Hooks registered with ``register_load_state_dict_post_hook`` are not expected '
                                         'to return new values, if incompatible_keys need to be modified, it should be '
                                         'done inplace.')
        load(self, state_dict, '')
        for what, keys in (('Unexpected', unexpected), ('Missing', missing)) if strict else ():
            if keys:
                errors.insert(0, f'{what} key(s) in state_dict: ' + ', '.join(f'"{key}"' for key in keys) + '. ')
        if errors:
            raise RuntimeError(f'Error(s) in loading state_dict for {type(self).__name__}:\n\t' + '\n\t'.join(errors))
        return _IncompatibleKeys(missing, unexpected)

    # Conversions.

    def _apply(self, fn, recurse=True):
        """fn of every parameter, of its gradient, and of every buffer. A parameter stays the same object."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for p in self._parameters.values():
            if p is not None:
                grad = p.grad
                with no_grad():
                    p.data = fn(p.detach())
                    if grad is not None:
                        p.grad = None
                        p.grad = fn(grad)
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        self._named = False
        return self

    def _to_dtype(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def to(self, *args, **kwargs):
        """Moves parameters and buffers. A dtype applies only to those with a floating dtype."""
        device, dtype = kwargs.get('device'), kwargs.get('dtype')
        for a in args:
            if isinstance(a, Tensor):
                device, dtype = a.device, a.dtype
            elif isinstance(a, _C.dtype):
                dtype = a
            elif a is not None and not isinstance(a, bool):
                device = a
        if dtype is not None and not _C.empty(0, dtype=dtype).is_floating_point() and 'complex' not in str(dtype):
            raise TypeError('nn.Module.to only accepts floating point or complex dtypes, but got desired dtype='
                            f'{dtype}')

        def convert(tensor):
            tensor = tensor if device is None else tensor.to(device)
            return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor
        return self._apply(convert)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type) if isinstance(dst_type, str) else t.to(dst_type))

    def float(self):
        return self._to_dtype(_C.float32)

    def double(self):
        return self._to_dtype(_C.float64)

    def half(self):
        return self._to_dtype(_C.float16)

    def bfloat16(self):
        return self._to_dtype(_C.bfloat16)

    def cpu(self):
        return self._apply(lambda t: t.to('cpu'))

    def cuda(self, device=None):
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device, recurse=True):
        return self._apply(lambda t: _C.empty(t.shape, dtype=t.dtype, device=device), recurse)

    def share_memory(self):
        return self
