# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: a denoising autoencoder with a schedule"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(4, 8, 3, stride=2, padding=1), nn.ReLU())
decoder = nn.Sequential(nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1), nn.ReLU(),
                        nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid())
model = nn.Sequential(encoder, decoder)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
images = torch.rand(12, 1, 8, 8)
for epoch in range(4):
    noisy = (images + 0.2 * torch.randn_like(images)).clamp(0., 1.)
    loss = F.mse_loss(model(noisy), images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(epoch, f'{loss.item():.5f} {scheduler.get_last_lr()[0]:.6f}')
print(encoder(images).shape, sum(p.numel() for p in model.parameters() if p.requires_grad))
