# SPDX-License-Identifier: LGPL-2.1-or-later
"""An element of a sigmoid's result is written. As reported in https://github.com/pytorch/pytorch/issues/9391"""
import torch

gate = torch.nn.Linear(3, 3)
torch.nn.init.eye_(gate.weight)
open_ = gate(torch.ones(2, 3)).sigmoid()
open_[0, 1] = 2.0
open_.sum().backward()
