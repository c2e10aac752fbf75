# SPDX-License-Identifier: LGPL-2.1-or-later
"""pytorch/examples, siamese_network: pairs of pictures"""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(2)


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.AvgPool2d(2))
        self.fc = nn.Sequential(nn.Linear(4 * 16 * 2, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
        self.sigmoid = nn.Sigmoid()
        self.body.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        output = self.body(x)
        return output.view(output.size()[0], -1)

    def forward(self, input1, input2):
        output = torch.cat((self.forward_once(input1), self.forward_once(input2)), 1)
        return self.sigmoid(self.fc(output))


model = SiameseNetwork()
optimizer = optim.Adadelta(model.parameters(), lr=1.0)
criterion = nn.BCELoss()
one, two = torch.randn(12, 1, 8, 8), torch.randn(12, 1, 8, 8)
targets = torch.randint(2, (12,)).float()
for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    outputs = model(one, two).squeeze()
    loss = criterion(outputs, targets)
    loss.backward()
    optimizer.step()
    pred = torch.where(outputs > 0.5, 1, 0)
    print(epoch, f'{loss.item():.5f}', pred.eq(targets.view_as(pred)).sum().item())
