# SPDX-License-Identifier: LGPL-2.1-or-later
"""Loads a file of PyTorch's tests, even if the engine lacks some of the names that the file asks for outside its
functions. A stand-in takes the place of such a name, and complains as soon as a test uses it."""
import ast
import builtins
import importlib
import os
import sys
import types


class MissingName(Exception):
    """A test used a name that this engine lacks."""


class Stand:
    """In the place of a missing name."""

    def __init__(self, name):
        self.__dict__['__name__'] = name

    def complain(self, *args, **kwargs):
        raise MissingName(self.__name__)

    __call__ = __getitem__ = __iter__ = __enter__ = complain

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        self.complain()

    def __mro_entries__(self, bases):
        missing = self.__name__

        def complain(self, *args, **kwargs):
            raise MissingName(missing)
        return (type('Base', (), {'__init__': complain}),)

    def __str__(self):
        return self.__name__


def found(path):
    """What a dotted name stands for, or a stand-in."""
    module, _, names = path.partition('.')
    value = importlib.import_module(module)
    for name in filter(None, names.split('.')):
        try:
            value = getattr(value, name)
        except AttributeError:
            return Stand(path)
    return value


def imported(module, name):
    """What `from module import name` gives, or a stand-in."""
    try:
        found_module = importlib.import_module(module)
    except ImportError:
        return Stand(f'{module}.{name}' if name else module)
    if not name:
        return found_module
    if hasattr(found_module, name):
        return getattr(found_module, name)
    try:
        return importlib.import_module(f'{module}.{name}')
    except ImportError:
        return Stand(f'{module}.{name}')


def tried(compute):
    """What a call outside functions gives, or a stand-in."""
    try:
        return compute()
    except (MissingName, AttributeError) as problem:
        return Stand(str(problem))


def call(function, *words):
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(word) for word in words], [])


class Outside(ast.NodeTransformer):
    """Replaces imports from torch, and names of torch outside functions, by calls of the functions above."""

    def visit_ImportFrom(self, node):
        if (node.module or '').partition('.')[0] not in ('torch', 'autograd'):
            return node
        return [ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], call('imported_', node.module, alias.name))
                for alias in node.names]

    def visit_Import(self, node):
        alias = node.names[0]
        if alias.asname and alias.name.startswith('torch'):
            return ast.Assign([ast.Name(alias.asname, ast.Store())], call('imported_', alias.name, ''))
        if alias.name.startswith('torch.'):
            return ast.Expr(call('imported_', alias.name, ''))
        return node

    def visit_FunctionDef(self, node):
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        return node

    def visit_Lambda(self, node):
        return node

    def visit_Call(self, node):
        node = self.generic_visit(node)
        if not ast.unparse(node.func).startswith('found_'):
            return node
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.Call(ast.Name('tried_', ast.Load()), [ast.Lambda(nothing, node)], [])

    def visit_Attribute(self, node):
        path = ast.unparse(node)
        if path.startswith('torch.') and path.replace('.', '').replace('_', '').isalnum():
            return call('found_', path)
        return self.generic_visit(node)


def load(path, name):
    """The module of this name, from this file."""
    builtins.found_, builtins.imported_, builtins.tried_ = found, imported, tried
    with open(path, encoding='utf-8') as file:
        tree = ast.fix_missing_locations(Outside().visit(ast.parse(file.read())))
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = path
    exec(compile(tree, path, 'exec', dont_inherit=True), vars(module))
    return module


def load_tests(folder, names):
    """The modules of these names, the last of which may import the others."""
    for name in names:
        parent = name.rpartition('.')[0]
        if parent and parent not in sys.modules:
            sys.modules[parent] = types.ModuleType(parent)
        yield load(os.path.join(folder, *name.split('.')) + '.py', name)
