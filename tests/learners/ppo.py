# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: proximal policy optimization of one batch"""
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
log_std = nn.Parameter(torch.zeros(1))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), log_std, *critic.parameters()], lr=3e-3)
states = torch.randn(32, 3)
with torch.no_grad():
    dist = Normal(actor(states), log_std.exp())
    actions = dist.sample()
    old_log_prob = dist.log_prob(actions)
    rewards = -(actions - states.sum(1, keepdim=True)).pow(2)
    advantages = rewards - critic(states)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
for epoch in range(4):
    for idx in torch.randperm(32).chunk(4):
        dist = Normal(actor(states[idx]), log_std.exp())
        ratio = (dist.log_prob(actions[idx]) - old_log_prob[idx]).exp()
        clipped = torch.clamp(ratio, 0.8, 1.2) * advantages[idx]
        policy_loss = -torch.min(ratio * advantages[idx], clipped).mean()
        value_loss = (critic(states[idx]) - rewards[idx]).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, f'{policy_loss.item():.4f} {value_loss.item():.4f} {log_std.item():.4f}')
