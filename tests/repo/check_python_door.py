# SPDX-License-Identifier: LGPL-2.1-or-later
"""The probe reads the program's Python objects through one door: Note [One door to Python] in engine/probe/python.h. In C the compiler
keeps most of it, because only python.c has what may run code. Here: no other file finds functions of Python by itself, only some may
run Python code, and the probe's own Python reads tensors, nodes and exceptions as reading.py does."""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE = ROOT / "engine" / "probe"
DOOR = {"python.c", "python.h"}
# Why: they run hooks.py, markers.py and where.py, which are ours, or the program's own call, and nothing is held then.
RUNNERS = {"hooks.c", "markers.c", "creation.c", "whereabouts.c"}
RUNS = re.compile(r"\btd_python_(run|call|call_with|call_method|raise|raise_later)\(")
# The engine's own call of a hook: the observer stands before it, and calls it on.
ENGINES = {"observer/observer.cpp": {"PyObject_CallObject"}}
NAME = re.compile(r"\b_?Py[A-Z]\w*_\w+")

# What a class of tensors or a mode of the program may define anew.
TENSORS = {"requires_grad", "grad", "grad_fn", "is_leaf", "data", "device", "dtype", "shape", "numel", "size", "stride", "layout",
           "output_nr", "_version", "_cdata", "is_nested", "element_size"}
# What a custom function's ctx may have.
NODES = {"variable", "name", "register_hook", "register_prehook", "_sequence_nr", "_input_metadata"}
# They read a tensor whose class is torch.Tensor itself, or make one.
EXACT = {"memory_of", "bytes_of_storage", "find_places", "accumulator_of"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def open_names():
    text = (PROBE / "python_api.def").read_text(encoding="utf-8")
    entries = re.findall(r"^PYTHON(?:_IF_THERE)?\([^(]*?(_?Py\w+), \(|^PYTHON_TYPE\((\w+)\)", text, re.M)
    return {name for entry in entries for name in entry if name}


def check_c(path, allowed):
    name = path.relative_to(PROBE).as_posix()
    text = without_comments(path.read_text(encoding="utf-8"))
    for found in NAME.findall(text):
        if found not in allowed | ENGINES.get(name, set()):
            yield f"{name}: {found} is for the door alone"
    if RUNS.search(text) and name not in RUNNERS:
        yield f"{name}: runs Python code"


class Reader(ast.NodeVisitor):
    def __init__(self, name):
        self.name, self.within, self.complaints = name, [], []

    def complain(self, node, words):
        self.complaints.append(f"{self.name}:{node.lineno}: {words}")

    def visit_FunctionDef(self, node):
        self.within.append(node.name)
        self.generic_visit(node)
        self.within.pop()

    def visit_Attribute(self, node):
        of_base = isinstance(node.value, ast.Name) and node.value.id in ("Base", "mark", "torch", "self")
        of_functions = ast.unparse(node.value).startswith(("torch.", "struct."))
        if node.attr in TENSORS and not (of_base or of_functions or EXACT & set(self.within)):
            self.complain(node, f".{node.attr} of a tensor, without read()")
        if node.attr in NODES and not (of_base or of_functions):
            self.complain(node, f".{node.attr} of a node, without of_node()")
        self.generic_visit(node)

    def visit_Call(self, node):
        is_look = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr") and len(node.args) > 1
        named = node.args[1].value if is_look and isinstance(node.args[1], ast.Constant) else None
        if named in NODES | TENSORS and not ast.unparse(node.args[0]).startswith("torch."):
            self.complain(node, f"{node.func.id} of {named}, without read() or of_node()")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        names = ast.unparse(node.type) if node.type else "all"
        if names in ("all", "Exception"):
            self.complain(node, "catches what a handler of a signal raises: ask is_programs()")
        if names == "BaseException" and "is_programs" not in ast.unparse(ast.Module(node.body, [])):
            self.complain(node, "does not ask is_programs()")
        self.generic_visit(node)


def check_python(path):
    reader = Reader(path.name)
    reader.visit(ast.parse(path.read_text(encoding="utf-8")))
    return reader.complaints


def main():
    allowed, complaints = open_names(), []
    for path in sorted(PROBE.rglob("*")):
        if path.suffix in (".c", ".h", ".hpp", ".cpp") and path.name not in DOOR:
            complaints += check_c(path, allowed)
    for name in ("hooks.py", "markers.py"):
        complaints += check_python(PROBE / name)
    for complaint in complaints:
        print("engine/probe/" + complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
