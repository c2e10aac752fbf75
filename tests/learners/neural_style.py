# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, neural style transfer: a picture is what is optimized"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    G = torch.mm(features, features.t())
    return G.div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


conv = nn.Conv2d(3, 6, 3, padding=1)
style_img, content_img = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8)
style, content = StyleLoss(conv(style_img)), ContentLoss(conv(content_img))
model = nn.Sequential(conv, style, content)
model.eval()
model.requires_grad_(False)
input_img = content_img.clone()
input_img.requires_grad_(True)
optimizer = optim.LBFGS([input_img])
run = [0]
while run[0] <= 1:
    def closure():
        with torch.no_grad():
            input_img.clamp_(0, 1)
        optimizer.zero_grad()
        model(input_img)
        style_score, content_score = style.loss * 10000, content.loss
        loss = style_score + content_score
        loss.backward()
        run[0] += 1
        if run[0] % 10 == 1 and run[0] < 20:
            print(f'run {run[0]}: Style Loss : {style_score.item():.3f} Content Loss: {content_score.item():.3f}')
        return style_score + content_score
    optimizer.step(closure)
