# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, mnist_rnn: rows of a picture as a sequence"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(input_size=12, hidden_size=16, batch_first=True)
        self.batchnorm = nn.BatchNorm1d(16)
        self.dropout1 = nn.Dropout2d(0.25)
        self.fc1 = nn.Linear(16, 12)
        self.fc2 = nn.Linear(12, 10)

    def forward(self, input):
        input = input.reshape(-1, 12, 12)
        output, hidden = self.rnn(input)
        output = output[:, -1, :]
        output = self.batchnorm(output)
        output = F.relu(self.fc1(output))
        return F.log_softmax(self.fc2(output), dim=1)


model = Net()
optimizer = optim.Adadelta(model.parameters(), lr=0.1)
data, target = torch.randn(16, 1, 12, 12), torch.randint(10, (16,))
for epoch in range(4):
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.5f}')
