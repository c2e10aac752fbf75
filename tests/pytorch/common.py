# SPDX-License-Identifier: LGPL-2.1-or-later
"""What PyTorch's own tests import of torch.testing._internal, as far as the fetched ones use it. Written for them by
what they expect of the names. It works on both engines."""
import contextlib
import functools
import gc
import inspect
import os
import random
import sys
import types
import unittest
import warnings

import torch
import comparing


def passing_through(function=None, *args, **kwargs):
    """A decorator, with or without arguments, that changes nothing."""
    return function if inspect.isfunction(function) or inspect.isclass(function) else passing_through


def skipping(reason):
    def decorator(function=None, *args, **kwargs):
        skip = unittest.skip(reason)
        return skip(function) if inspect.isfunction(function) else skip
    return decorator


class TestCase(unittest.TestCase):
    maxDiff = None
    precision, rel_tol = 0, 0

    def setUp(self):
        torch.manual_seed(1234)
        random.seed(1234)

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, **others):
        what = comparing.differ(x, y, rtol, atol, exact_dtype)
        if what:
            self.fail(f'not equal: {what}' + (f' : {msg}' if isinstance(msg, str) else ''))

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **others):
        if not comparing.differ(x, y, rtol, atol):
            self.fail(f'equal: {x!r} and {y!r}')

    assertEqualIgnoringStrides = assertEqual

    def assertNotWarn(self, function, msg=''):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            function()
        self.assertTrue(not seen, f'{msg}: {[str(warning.message) for warning in seen]}')

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category, regex=''):
        with set_warn_always_context(True), self.assertWarnsRegex(category, regex) as seen:
            yield
        self.assertEqual(len([w for w in seen.warnings if issubclass(w.category, category)]), 1)

    def assertExpectedInline(self, actual, expected, skip=0):
        super().assertEqual(expected, actual)

    def assertExpected(self, text, subname=None):
        module = sys.modules[type(self).__module__]
        name = f'{type(self).__name__}.{self._testMethodName}' + (f'-{subname}' if subname else '')
        with open(os.path.join(os.path.dirname(module.__file__), 'expect', name + '.expect'), encoding='utf-8') as file:
            super().assertEqual(file.read().strip(), text.strip())


def assign_name(value, name):
    """The part of a method's name for one value of a parameter."""
    if isinstance(value, (bool, int, float, str)):
        return f'{name}_{str(value).replace(".", "_")}'
    return f'{name}_{getattr(value, "__name__", str(value)).rpartition(".")[2]}'


class subtest:
    def __init__(self, arg_values, name=None, decorators=()):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators


def parametrize(names, values, name_fn=None):
    """One method for each value. instantiate_parametrized_tests makes them."""
    names = [name.strip() for name in names.split(',')]

    def decorator(method):
        method.parameters = [(names, list(values), name_fn), *getattr(method, 'parameters', [])]
        return method
    return decorator


def variant(names, value, name_fn):
    """(suffix, arguments, decorators) of one value of the parameters."""
    given, name, decorators = value, None, ()
    if isinstance(value, subtest):
        given, name, decorators = value.arg_values, value.name, value.decorators
    each = [given] if len(names) == 1 else list(given)
    if name is None:
        name = name_fn(*each) if name_fn else '_'.join(assign_name(v, n) for n, v in zip(names, each))
    return name, dict(zip(names, each)), decorators


def variants(method):
    """(suffix, arguments, decorators) of each method that a parametrized one stands for."""
    found = [('', {}, ())]
    for names, values, name_fn in getattr(method, 'parameters', []):
        more = [variant(names, value, name_fn) for value in values]
        found = [(f'{a}_{b}' if a else b, {**x, **y}, (*d, *e)) for a, x, d in found for b, y, e in more]
    return found


def with_arguments(method, arguments, decorators=()):
    @functools.wraps(method)
    def test(self):
        return method(self, **arguments)
    test.__signature__ = inspect.Signature([inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)])
    for decorator in decorators:
        test = decorator(test)
    return test


def instantiate_parametrized_tests(cls):
    for name, method in list(vars(cls).items()):
        if name.startswith('test') and hasattr(method, 'parameters'):
            delattr(cls, name)
            for suffix, arguments, decorators in variants(method):
                setattr(cls, f'{name}_{suffix}', with_arguments(method, arguments, decorators))
    return cls


def dtypes(*wanted, **others):
    def decorator(method):
        method.dtypes = wanted
        return method
    return decorator


def device_count_at_least(count):
    """Takes a list of devices, of which this machine has one."""
    def decorator(method):
        method.n_devices = count
        return method
    return decorator


def instantiate_device_type_tests(cls, scope, **others):
    """Makes the class for the CPU of a class whose methods take a device, and perhaps a dtype."""
    made = type(cls.__name__ + 'CPU', (TestCase,), {'__module__': cls.__module__, 'device_type': 'cpu'})
    for name, member in vars(cls).items():
        if not name.startswith('test'):
            if not name.startswith('__'):
                setattr(made, name, member)
            continue
        several = getattr(member, 'n_devices', 0)
        if several > 1:
            continue
        device = {'devices': ['cpu']} if several else {'device': 'cpu'}
        for dtype in getattr(member, 'dtypes', None) or [None]:
            end = f'_cpu_{str(dtype).rpartition(".")[2]}' if dtype else '_cpu'
            for suffix, arguments, decorators in variants(member):
                taken = {**device, **arguments, **({'dtype': dtype} if dtype else {})}
                if len(inspect.signature(member).parameters) == 1:
                    taken = {}
                setattr(made, name + (f'_{suffix}' if suffix else '') + end, with_arguments(member, taken, decorators))
    scope[made.__name__] = made
    scope.pop(cls.__name__, None)


@contextlib.contextmanager
def disable_gc():
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextlib.contextmanager
def set_warn_always_context(new):
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(new)
    try:
        yield
    finally:
        torch.set_warn_always(before)


def checked(name):
    """gradcheck and gradgradcheck, with what PyTorch's tests leave to their wrappers."""
    def check(fn, inputs, *args, **kwargs):
        for option in ('check_batched_grad', 'fast_mode'):
            if kwargs.get(option) is None:
                kwargs[option] = True
        return getattr(torch.autograd, name)(fn, inputs, *args, **kwargs)
    return check


def mask_not_all_zeros(shape):
    while True:
        mask = torch.randn(shape) > 0
        if mask.sum() > 0:
            return mask


def floating_types_and(*others):
    return (torch.float32, torch.float64, *others)


MODULES = {
    'common_cuda': {'TEST_CUDA': False},
    'common_device_type': {
        'deviceCountAtLeast': device_count_at_least, 'dtypes': dtypes, 'dtypesIfCUDA': passing_through,
        'dtypesIfMPS': passing_through, 'instantiate_device_type_tests': instantiate_device_type_tests,
        'onlyCPU': passing_through, 'onlyCUDA': skipping('needs CUDA'), 'skipMeta': passing_through},
    'common_dtype': {'floating_types_and': floating_types_and},
    'common_methods_invocations': {'mask_not_all_zeros': mask_not_all_zeros},
    'common_utils': {
        'disable_gc': disable_gc, 'gradcheck': checked('gradcheck'), 'gradgradcheck': checked('gradgradcheck'),
        'instantiate_parametrized_tests': instantiate_parametrized_tests, 'IS_MACOS': False, 'IS_WINDOWS': False,
        'parametrize': parametrize, 'run_tests': unittest.main, 'scoped_load_inline': skipping('compiles C++'),
        'set_warn_always_context': set_warn_always_context, 'skipIfMPS': passing_through,
        'skipIfNoLapack': passing_through, 'skipIfTorchDynamo': passing_through, 'skipIfWindows': passing_through,
        'slowTest': passing_through, 'subtest': subtest, 'TestCase': TestCase, 'xfailIfS390X': passing_through,
        'xfailIfTorchDynamo': passing_through},
}


def install():
    """Puts these modules in the place of PyTorch's."""
    for name, members in MODULES.items():
        module = types.ModuleType('torch.testing._internal.' + name)
        vars(module).update(members)
        sys.modules[module.__name__] = module
