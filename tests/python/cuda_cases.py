# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: a program that would use CUDA or another accelerator, and has none."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
import torch.backends.cudnn as cudnn
from torch import nn
from seen_cases import case, case_since_2, error_of, main, warnings_of


@case
def nothing_there():
    cuda = torch.cuda
    return [cuda.is_available(), cuda.device_count(), cuda.is_initialized(), cuda.manual_seed(1), cuda.manual_seed_all(2),
            cuda.seed(), cuda.empty_cache(), cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved(),
            cuda.get_rng_state_all(), cuda.get_arch_list(), torch.version.cuda, torch.version.hip,
            cudnn.is_available(), torch.backends.mps.is_available(), torch.backends.cuda.is_built()]


@case
def seeds_do_not_count():
    torch.manual_seed(3)
    torch.cuda.manual_seed_all(4)
    return torch.rand(3)


@case
def refusals():
    x = torch.ones(2)
    return [error_of(call) for call in (
        torch.cuda.current_device, torch.cuda.synchronize, torch.cuda.current_stream, torch.cuda.get_device_name,
        torch.cuda.init, lambda: torch.cuda.get_device_properties(0), lambda: x.cuda(), lambda: x.to('cuda'),
        lambda: x.to('cuda:1', non_blocking=True), lambda: x.to(torch.device('cuda')), lambda: torch.ones(2, device='cuda'),
        lambda: torch.zeros(2, device=torch.device('cuda', 1)), lambda: torch.tensor([1.], device='cuda'),
        lambda: torch.randn(2, device='cuda:0'), lambda: nn.Linear(1, 1).cuda(), lambda: nn.Linear(1, 1).to('cuda'),
        lambda: x.to('mps'), lambda: nn.Linear(1, 1).to(torch.device('mps')))]


@case
def devices():
    first, second = torch.device('cuda:1'), torch.device('cuda', 1)
    return [repr(first), str(first), first.type, first.index, first == second, hash(first) == hash(second),
            repr(torch.device('cuda')), torch.device('cuda').index, torch.device('cuda') == first,
            torch.device('cpu') != first, repr(torch.device(first)), repr(torch.device('mps')),
            torch.device('cuda' if torch.cuda.is_available() else 'cpu').type]


@case
def where_tensors_are():
    x = torch.ones(2)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = nn.Linear(2, 1).to(device, non_blocking=True)
    return x.is_cuda, x.get_device(), x.is_pinned(), x.to(device).device.type, model.weight.is_cuda


@case
def switches():
    seen = [cudnn.benchmark, cudnn.deterministic, cudnn.enabled, torch.backends.cuda.matmul.allow_tf32]
    cudnn.benchmark = torch.backends.cudnn.deterministic = torch.backends.cuda.matmul.allow_tf32 = True
    seen += [torch.backends.cudnn.benchmark, cudnn.deterministic, torch.backends.cuda.matmul.allow_tf32]
    torch.set_float32_matmul_precision('high')
    torch.use_deterministic_algorithms(True)
    return seen, torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()


def step(scaler, autocast):
    torch.manual_seed(5)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with autocast:
        loss = model(torch.ones(3, 2)).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss, model.weight, scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()


@case
def mixed_precision():
    made = []
    told = warnings_of(lambda: made.extend([torch.cuda.amp.GradScaler(), torch.cuda.amp.autocast()]))
    return step(*made), len(told) > 0


@case_since_2
def newer_mixed_precision():
    return step(torch.amp.GradScaler('cuda', enabled=False), torch.autocast('cuda', enabled=False))


@case_since_2
def versions():
    return torch.__version__.split('+')[0], torch.version.__version__.split('+')[0]


if __name__ == '__main__':
    main()
