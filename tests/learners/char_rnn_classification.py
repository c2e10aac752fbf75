# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, NLP from scratch: classifying names with a character-level RNN"""
import random
import string

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
all_letters = string.ascii_letters + " .,;'"
n_letters = len(all_letters)
category_lines = {'Irish': ['Adam', 'Ahearn', 'Aodh', 'Aonghus'], 'Greek': ['Adamidis', 'Adamou', 'Agelakos', 'Akrivopoulos'],
                  'Korean': ['Ahn', 'Baik', 'Bang', 'Byon']}
all_categories = list(category_lines)


def lineToTensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][all_letters.find(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        hidden = F.tanh(self.i2h(input) + self.h2h(hidden))
        output = self.softmax(self.h2o(hidden))
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


rnn = RNN(n_letters, 32, len(all_categories))
criterion = nn.NLLLoss()


def train(category_tensor, line_tensor):
    hidden = rnn.initHidden()
    rnn.zero_grad()
    for i in range(line_tensor.size()[0]):
        output, hidden = rnn(line_tensor[i], hidden)
    loss = criterion(output, category_tensor)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.005)
    return output, loss.item()


for it in range(30):
    category = random.choice(all_categories)
    line = random.choice(category_lines[category])
    category_tensor = torch.tensor([all_categories.index(category)], dtype=torch.long)
    output, loss = train(category_tensor, lineToTensor(line))
    if it % 10 == 0:
        top_n, top_i = output.topk(1)
        print(it, f'{loss:.4f}', line, all_categories[top_i[0].item()])
with torch.no_grad():
    hidden = rnn.initHidden()
    for letter in lineToTensor('Akmal'):
        output, hidden = rnn(letter, hidden)
    topv, topi = output.topk(3, 1, True)
    for i in range(3):
        print(f'({topv[0][i].item():.2f}) {all_categories[topi[0][i].item()]}')
