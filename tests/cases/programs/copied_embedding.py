# SPDX-License-Identifier: LGPL-2.1-or-later
"""A layer gets new weights after the optimizer was made. As reported in https://github.com/rasbt/LLMs-from-scratch/issues/277"""
import torch

torch.manual_seed(0)
embedding, linear = torch.nn.Embedding(6, 4), torch.nn.Linear(6, 4, bias=False)
net = torch.nn.ModuleDict({"embedding": embedding, "linear": linear})
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
linear.weight = torch.nn.Parameter(embedding.weight.T.detach().clone())
words = torch.tensor([1, 4, 2])
for step in range(4):
    optimizer.zero_grad()
    one_hot = torch.nn.functional.one_hot(words, 6).float()
    loss = (net["linear"](one_hot) - net["embedding"](words) - 1).square().mean()
    loss.backward()
    optimizer.step()
