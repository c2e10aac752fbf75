"""Reinforcement learning: actor and critic learn to balance a pole, in the manner of PyTorch's actor-critic example."""
import argparse
import math
import random
from collections import namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SavedAction = namedtuple('SavedAction', ['log_prob', 'value'])


class CartPole:
    """The pole on a cart of Barto, Sutton and Anderson (1983), stepped by Euler's rule."""
    def __init__(self, seed):
        self.random = random.Random(seed)

    def reset(self):
        self.state = [self.random.uniform(-0.05, 0.05) for _ in range(4)]
        return list(self.state)

    def step(self, action):
        x, x_dot, theta, theta_dot = self.state
        force = 10.0 if action == 1 else -10.0
        temp = (force + 0.05 * theta_dot ** 2 * math.sin(theta)) / 1.1
        theta_acc = (9.8 * math.sin(theta) - math.cos(theta) * temp) / \
            (0.5 * (4.0 / 3.0 - 0.1 * math.cos(theta) ** 2 / 1.1))
        x_acc = temp - 0.05 * theta_acc * math.cos(theta) / 1.1
        self.state = [x + 0.02 * x_dot, x_dot + 0.02 * x_acc, theta + 0.02 * theta_dot, theta_dot + 0.02 * theta_acc]
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095
        return list(self.state), 1.0, done


class Policy(nn.Module):
    """Actor and critic in one model."""
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 64)
        self.action_head = nn.Linear(64, 2)
        self.value_head = nn.Linear(64, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_prob = F.softmax(self.action_head(x), dim=-1)
        state_values = self.value_head(x)
        return action_prob, state_values


def select_action(model, state):
    probs, state_value = model(torch.tensor(state))
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), state_value))
    return action.item()


def finish_episode(model, optimizer, gamma):
    R = 0
    policy_losses = []
    value_losses = []
    returns = []
    for r in model.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, R.view(1)))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description='PyTorch actor-critic example')
    parser.add_argument('--gamma', type=float, default=0.99, metavar='G')
    parser.add_argument('--episodes', type=int, default=8, metavar='N')
    parser.add_argument('--seed', type=int, default=543, metavar='N')
    parser.add_argument('--log-interval', type=int, default=2, metavar='N')
    args = parser.parse_args()

    env = CartPole(args.seed)
    torch.manual_seed(args.seed)
    model = Policy()
    optimizer = optim.Adam(model.parameters(), lr=3e-2)
    running_reward = 10
    for i_episode in count(1):
        state = env.reset()
        ep_reward = 0
        for t in range(1, 200):
            action = select_action(model, state)
            state, reward, done = env.step(action)
            model.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        loss = finish_episode(model, optimizer, args.gamma)
        if i_episode % args.log_interval == 0:
            print('Episode {}\tLast reward: {:.2f}\tAverage reward: {:.2f}\tLoss: {:.4f}'.format(
                i_episode, ep_reward, running_reward, loss))
        if i_episode >= args.episodes:
            break


if __name__ == '__main__':
    main()
