# SPDX-License-Identifier: LGPL-2.1-or-later
"""CTC has fewer frames than letters. As reported in https://github.com/FangShancheng/ABINet/issues/65"""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(6, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
words = torch.tensor([[1, 2, 3, 4, 1]])
for step, frames in enumerate((12, 11, 4)):
    optimizer.zero_grad()
    scores = net(torch.randn(frames, 1, 6)).log_softmax(2)
    loss = torch.nn.functional.ctc_loss(scores, words, torch.tensor([frames]), torch.tensor([5]))
    loss.backward()
    optimizer.step()
    print(step, loss.item())
