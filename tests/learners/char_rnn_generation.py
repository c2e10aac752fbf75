# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, NLP from scratch: generating names"""
import random

import torch
import torch.nn as nn

random.seed(1)
torch.manual_seed(1)
letters = 'abcdefghijklmnopqrstuvwxyz'
n_letters = len(letters) + 1
names = ['anna', 'ben', 'clara', 'dora', 'emil']


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(input_size + hidden_size, output_size)
        self.o2o = nn.Linear(hidden_size + output_size, output_size)
        self.dropout = nn.Dropout(0.1)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        input_combined = torch.cat((input, hidden), 1)
        hidden = self.i2h(input_combined)
        output = self.i2o(input_combined)
        output = self.o2o(torch.cat((hidden, output), 1))
        return self.softmax(self.dropout(output)), hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


def inputTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li in range(len(line)):
        tensor[li][0][letters.find(line[li])] = 1
    return tensor


def targetTensor(line):
    return torch.LongTensor([letters.find(line[li]) for li in range(1, len(line))] + [n_letters - 1])


rnn = RNN(n_letters, 24, n_letters)
criterion = nn.NLLLoss()
for it in range(40):
    line = random.choice(names)
    target = targetTensor(line)
    target.unsqueeze_(-1)
    hidden = rnn.initHidden()
    rnn.zero_grad()
    loss = torch.Tensor([0])
    for i, letter in enumerate(inputTensor(line)):
        output, hidden = rnn(letter, hidden)
        loss += criterion(output, target[i])
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.01)
    if it % 10 == 9:
        print(it, f'{loss.item() / len(line):.4f}')
