# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: a net that goes down and up"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def double_conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(inplace=True), nn.Conv2d(b, b, 3, padding=1),
                         nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inc, self.down = double_conv(1, 4), nn.Sequential(nn.MaxPool2d(2), double_conv(4, 8))
        self.up = nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)
        self.conv, self.outc = double_conv(12, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.up(self.down(x1))
        dy, dx = x1.size(2) - x2.size(2), x1.size(3) - x2.size(3)
        x2 = F.pad(x2, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.outc(self.conv(torch.cat([x1, x2], dim=1)))


model = UNet()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9)
images = torch.rand(4, 1, 9, 8)
masks = (images > 0.5).float()
for epoch in range(3):
    pred = model(images)
    bce = F.binary_cross_entropy_with_logits(pred, masks)
    prob = torch.sigmoid(pred)
    dice = 1 - (2 * (prob * masks).sum() + 1) / (prob.sum() + masks.sum() + 1)
    optimizer.zero_grad(set_to_none=True)
    (bce + dice).backward()
    optimizer.step()
    print(epoch, f'{bce.item():.4f} {dice.item():.4f}')
