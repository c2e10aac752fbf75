# SPDX-License-Identifier: LGPL-2.1-or-later
"""No parameter of the look-alike is accepted and then ignored, unless it changes no number: each that a body never reads stands here
with its reason."""
import ast
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
PACKAGE = ROOT / "engine" / "torch" / "python" / "torch"
OPERATIONS = ROOT / "engine" / "torch" / "binding" / "operations.def"

PROTOCOL = "the protocol gives it"
PLACE = "where and how memory is, which changes no number"
METHOD = "one of several ways to the same numbers"
HINT = "a hint that changes no number"
NOTHING = "the function does nothing here, as PyTorch's does without that device"
TEXT = "how a text or a profile looks"

# By name, wherever it is.
BY_NAME = {
    **dict.fromkeys(("error", "exception"), PROTOCOL),
    **dict.fromkeys(("non_blocking", "pin_memory", "memory_format"), PLACE),
    **dict.fromkeys(("foreach", "driver", "stable"), METHOD),
}
# By file and function.
BY_FUNCTION = {
    "accelerator.py current_accelerator": ("check_available", HINT), "accelerator.py __init__": ("priority blocking interprocess", HINT),
    "amp/__init__.py is_autocast_available": ("device_type", HINT), "amp/__init__.py custom_fwd": ("device_type", NOTHING),
    "amp/__init__.py custom_bwd": ("device_type", NOTHING), "amp/__init__.py unscale_": ("optimizer", NOTHING),
    "amp/__init__.py __init__": ("cache_enabled device init_scale growth_factor backoff_factor growth_interval", NOTHING),
    "amp/__init__.py update": ("new_scale", NOTHING), "amp/__init__.py load_state_dict": ("state_dict", NOTHING),
    "_arrays.py _array": ("copy", "NumPy copies"), "_arrays.py _array_wrap": ("context return_scalar", PROTOCOL),
    "autograd/forward_ad.py make_dual": ("level", "there is one level"), "autograd/forward_ad.py unpack_dual": ("level", "there is one level"),
    "autograd/function.py __init__": ("args kwargs", "nobody may make one"),
    "autograd/gradcheck.py gradcheck": ("eps atol rtol nondet_tol check_undefined_grad check_grad_dtypes check_batched_grad "
                                        "check_batched_forward_grad check_forward_ad check_backward_ad fast_mode masked",
                                        "read by locals()"),
    "autograd/gradcheck.py gradgradcheck": ("gen_non_contig_grad_outputs", PLACE),
    "autograd/graph.py __init__": ("device_type", PLACE),
    "autograd/profiler.py __init__": ("use_cuda use_device with_flops profile_memory with_stack with_modules use_kineto use_cpu "
                                      "others enabled record_shapes", TEXT),
    "autograd/profiler_util.py __init__": ("others use_device profile_memory with_flops", TEXT),
    "autograd/profiler_util.py key_averages": ("group_by_stack_n group_by_overload_name", TEXT),
    "autograd/profiler_util.py table": ("max_src_column_width max_name_column_width max_shapes_column_width", TEXT),
    "backends/cudnn.py flags": ("enabled benchmark benchmark_limit deterministic allow_tf32", NOTHING),
    "_composed/comparing.py isin": ("assume_unique", HINT), "_composed/pointwise.py cdist": ("compute_mode", METHOD),
    "_composed/complex_parts.py is_conj": ("input", "no tensor here is lazily conjugated"),
    "_composed/complex_parts.py is_neg": ("input", "no tensor here is lazily negated"),
    "_composed/dtypes.py construct": ("device", PLACE), "_composed/dtypes.py is_storage": ("obj", "there are none of that kind"),
    "_composed/dtypes.py is_pinned": ("device", PLACE), "_composed/dtypes.py pin_memory": ("device", PLACE),
    "_composed/reducing.py _unique_lines": ("return_inverse return_counts", "all of it is always found"),
    "_composed/reducing.py _unique": ("sorted", "they are always sorted"), "_composed/reducing.py _unique2": ("sorted", "they are always sorted"),
    "_composed/reducing.py unique_dim": ("sorted", "they are always sorted"),
    "_composed/shapes.py repeat_interleave": ("output_size", HINT), "_copies.py _reduce": ("protocol", PROTOCOL),
    "cuda/__init__.py is_bf16_supported": ("including_emulation", NOTHING), "cuda/__init__.py get_device_properties": ("device", NOTHING),
    "cuda/__init__.py manual_seed": ("seed", NOTHING), "cuda/__init__.py manual_seed_all": ("seed", NOTHING),
    "cuda/__init__.py get_rng_state": ("device", NOTHING), "cuda/__init__.py memory_stats": ("device", NOTHING),
    "cuda/__init__.py memory_allocated": ("device", NOTHING), "cuda/__init__.py reset_peak_memory_stats": ("device", NOTHING),
    "cuda/__init__.py __init__": ("kwargs blocking interprocess external", NOTHING),
    "distributions/distribution.py __get__": ("kind", PROTOCOL), "distributions/distribution.py rsample": ("sample_shape", "subclasses have it"),
    "_names.py set_num_threads": ("n", METHOD), "nn/_backward_hook.py backward": ("ctx", PROTOCOL),
    "nn/_dropout.py _function": ("inplace", "PyTorch's module ignores it too"),
    "nn/_function_activations.py gumbel_softmax": ("eps", "PyTorch ignores it too"), "nn/_function_vision.py _resized": ("name", "one of a family"),
    "nn/_linear.py __init__": ("args kwargs", "Identity takes anything"), "nn/_loss.py _loss": ("inputs", "read by locals()"),
    "nn/_module.py compile": ("args kwargs", METHOD), "onnx/__init__.py export": ("args kwargs", "it is refused"),
    "onnx/__init__.py dynamo_export": ("args kwargs", "it is refused"), "optim/_adafactor.py _first": ("group", "one of a family"),
    "optim/adam.py _first": ("group", "one of a family"), "optim/_adaptive.py _first": ("group", "one of a family"),
    "optim/_by_parameter.py _has_state": ("group", "one of a family"), "optim/_by_parameter.py _first": ("p group", "one of a family"),
    "nn/_windows.py max_pool3d_with_indices": ("return_indices", "it always returns them"),
    "optim/_composed_schedulers.py _reduce_lr": ("epoch", PROTOCOL), "optim/_muon.py _first": ("group", "one of a family"),
    "optim/swa_utils.py update": ("n", "an exponential average counts nothing"), "random.py fork_rng": ("devices device_type", "there is one generator"),
    "_scattered.py _check": ("src", "one of a family"), "serialization/__init__.py save": ("pickle_module", METHOD),
    "serialization/__init__.py load": ("pickle_module mmap pickle_load_args", METHOD),
    "serialization/_unpickler.py _tensor_v3": ("hooks metadata", PROTOCOL), "serialization/_unpickler.py _tensor_v2": ("hooks metadata", PROTOCOL),
    "serialization/_unpickler.py _parameter": ("hooks", PROTOCOL), "serialization/_unpickler.py _parameter_with": ("hooks", PROTOCOL),
    "_settings.py use_deterministic_algorithms": ("warn_only", "every function is deterministic"),
    "_subclasses.py _init_subclass": ("kwargs", PROTOCOL), "_tensor_places.py _pin_memory": ("device", PLACE),
    "_tensor_places.py lambda": ("device", PLACE),
    "utils/data/_collate.py _collate_tensors": ("collate_fn_map", PROTOCOL), "utils/data/_collate.py _collate_scalars": ("collate_fn_map", PROTOCOL),
    "utils/data/_collate.py _collate_floats": ("collate_fn_map", PROTOCOL), "utils/data/_collate.py _collate_integers": ("collate_fn_map", PROTOCOL),
    "utils/data/_collate.py _collate_texts": ("collate_fn_map", PROTOCOL), "utils/data/_fetch.py __init__": ("drop_last", "one of a family"),
    "utils/_operation_log.py __torch_dispatch__": ("types", PROTOCOL), "utils/_recompute.py pack": ("tensor", "it is computed again"),
    "utils/_selective.py __torch_dispatch__": ("types", PROTOCOL), "utils/_selective.py policy": ("context args kwargs", PROTOCOL),
}
# Of operations.def. PyTorch's functions that take these are in Python, and read them.
OF_OPERATIONS = {"size_average": "F reads it", "reduce": "F reads it", "stable": METHOD}


def parameters_of(function):
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg) if one]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def unread(tree):
    """(name of a function, a parameter that its body never reads). A body that only raises or passes has no say."""
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        body = function.body if isinstance(function.body, list) else [function.body]
        if all(isinstance(line, (ast.Pass, ast.Raise)) for line in body):
            continue
        read = {node.id for line in body for node in ast.walk(line) if isinstance(node, ast.Name)}
        for name in parameters_of(function):
            if name not in read:
                yield getattr(function, "name", "lambda"), name


def problems_of_package():
    excused = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        for function, name in unread(ast.parse(path.read_text(encoding="utf-8"))):
            key = f"{place} {function}"
            if name in BY_FUNCTION.get(key, ("", ""))[0].split():
                excused.add((key, name))
            elif name not in BY_NAME:
                yield f"{PACKAGE.relative_to(ROOT)}/{place}: {function}() ignores {name}"
    for key, (names, _) in BY_FUNCTION.items():
        for name in set(names.split()) - {name for other, name in excused if other == key}:
            yield f"tests/repo/check_parameters.py: {key} reads {name}, or is gone"


def calls_of(text):
    """What stands in the brackets of each TDPY_...(...)."""
    for begin in re.finditer(r"^TDPY_\w+\(", text, re.M):
        depth, at = 1, begin.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[begin.end():at - 1]


def problems_of_operations():
    """A signature's parameters are read by number, as T(0) or I(2, -1). A call without any number takes all of them."""
    for call in calls_of(OPERATIONS.read_text(encoding="utf-8")):
        signature = re.search(r'"([^"]*)"', call)
        read = {int(number) for number in re.findall(r"\b[A-Za-z_]+\((\d+)", call[signature.end():])} if signature else set()
        names = [part.split(":")[0].lstrip("*") for part in signature.group(1).split()] if signature else []
        whole = not read or "(v, error" in call
        for number, name in enumerate(names):
            if not whole and number not in read and name not in ("self", *OF_OPERATIONS):
                yield f"{OPERATIONS.relative_to(ROOT)}: {call.split(',')[0]} ignores {name}"


def main():
    problems = [*problems_of_package(), *problems_of_operations()]
    print("\n".join(problems) if problems else "Every parameter is read, or has a reason.")
    sys.exit(bool(problems))


main()
