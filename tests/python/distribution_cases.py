# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: samples of distributions with a seed, probabilities, gradients and refusals."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch import distributions
from torch.distributions import Bernoulli, Categorical, Independent, Normal, Uniform, kl_divergence
from seen_cases import case, case_since_2, error_of, main


def rounded(tensor):
    """Both engines round a few functions differently in the last bit."""
    return [list(tensor.shape), str(tensor.dtype), [float(f'{value:.5g}') for value in tensor.detach().flatten().tolist()]]


def made():
    double = torch.tensor([[0.5, 2.], [1., 0.25]], dtype=torch.float64)
    logits = torch.tensor([[0.1, -1., 2.], [0., 0., 0.5]])
    return [Normal(0., 1.), Normal(torch.zeros(3), 2.), Normal(double, double), Normal(torch.zeros(2, 1), torch.ones(3)),
            Uniform(0., 1.), Uniform(torch.tensor([-1., 0.]), 3.), Uniform(double - 3, double), Bernoulli(0.3),
            Bernoulli(torch.tensor([0., 0.2, 1.])), Bernoulli(logits=logits), Categorical(torch.tensor([1., 2., 1.])),
            Categorical(logits=logits), Categorical(probs=torch.softmax(logits.double(), -1)),
            Independent(Normal(torch.zeros(2, 3), 1.), 1), Independent(Bernoulli(torch.full((2, 2), 0.5)), 2)]


@case_since_2
def samples():
    seen = []
    for distribution in made():
        torch.manual_seed(1)
        seen.append([distribution.sample(), distribution.sample((2,)), distribution.sample(torch.Size([3, 1]))])
        if distribution.has_rsample:
            seen.append([rounded(distribution.rsample()), rounded(distribution.rsample((20,)))])
    return seen, torch.rand(2)


@case_since_2
def probabilities():
    seen = []
    for distribution in made():
        torch.manual_seed(2)
        value = distribution.sample((4,))
        seen.append([rounded(distribution.log_prob(value)), rounded(distribution.entropy())])
    return seen


@case
def shapes():
    return [[repr(d), list(d.batch_shape), list(d.event_shape), d.has_rsample, d.sample((5,)).shape, repr(d.support)]
            for d in made()]


@case
def moments():
    plain = [d for d in made() if not isinstance(d, (Categorical, Independent))]
    return [[rounded(d.mean), rounded(d.variance), rounded(d.stddev)] for d in plain] + [
        made()[-5].probs.argmax(-1), rounded(made()[10].logits), rounded(made()[9].probs), rounded(made()[8].logits),
        Categorical(torch.ones(3)).enumerate_support(), Bernoulli(torch.ones(2)).enumerate_support(),
        rounded(Uniform(0., 4.).cdf(torch.tensor([1., 4.]))), rounded(Uniform(0., 4.).icdf(torch.tensor([0.5])))]


@case
def larger():
    seen = []
    for distribution, shape in ((Normal(0., 1.), (2, 3)), (Uniform(0., 1.), (3,)), (Bernoulli(0.5), (2,)),
                                (Categorical(torch.ones(3)), (2,))):
        torch.manual_seed(3)
        wide = distribution.expand(shape)
        seen.append([repr(wide), wide.sample(), list(wide.batch_shape), rounded(wide.entropy())])
    return seen


@case_since_2
def divergences():
    a, b = torch.tensor([0.2, 0.5, 0.3]), torch.tensor([0.1, 0.1, 0.8])
    pairs = [(Normal(0., 1.), Normal(1., 2.)), (Normal(a, b), Normal(b, a)), (Bernoulli(a), Bernoulli(b)),
             (Bernoulli(torch.tensor([0., 1., 0.5])), Bernoulli(torch.tensor([0.5, 0.5, 1.]))), (Categorical(a), Categorical(b)),
             (Categorical(torch.tensor([0., 1.])), Categorical(torch.tensor([0.5, 0.5]))), (Uniform(0., 1.), Uniform(0., 2.)),
             (Uniform(torch.zeros(2), 2.), Uniform(0., torch.tensor([1., 3.]))),
             (Independent(Normal(a, 1.), 1), Independent(Normal(b, 1.), 1))]
    return [rounded(kl_divergence(p, q)) for p, q in pairs], error_of(lambda: kl_divergence(Uniform(0., 1.), Categorical(a)))


def names_of(node):
    """The graph, without the numbers of in-place versions."""
    return node and [node.name().split('::')[-1], [names_of(next_node) for next_node, _ in node.next_functions]]


@case_since_2
def gradients():
    seen = []
    for make in (lambda x: Normal(x, x.exp()), lambda x: Categorical(logits=x), lambda x: Bernoulli(logits=x),
                 lambda x: Uniform(x, x + 1)):
        torch.manual_seed(4)
        x = torch.tensor([0.5, -0.3, 0.1], requires_grad=True)
        distribution = make(x)
        result = distribution.log_prob(distribution.sample()).sum() + distribution.entropy().sum()
        if distribution.has_rsample:
            result = result + distribution.rsample((2,)).sum()
        names = names_of(result.grad_fn)
        result.backward()
        seen.append([rounded(x.grad), names])
    return seen


@case_since_2
def policy_gradient():
    """The loop of the usual example of reinforcement learning."""
    torch.manual_seed(5)
    policy = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
    seen = []
    for _ in range(5):
        distribution = Categorical(torch.softmax(policy(torch.rand(4)), dim=-1))
        action = distribution.sample()
        loss = -distribution.log_prob(action) * (1. - action.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append([action.item(), rounded(loss)])
    return seen, rounded(policy.weight)


@case_since_2
def refusals():
    return [error_of(call) for call in (
        lambda: Normal(0., -1.), lambda: Normal(torch.tensor([0., float('nan')]), 1.), lambda: Bernoulli(1.5),
        lambda: Bernoulli(), lambda: Bernoulli(0.5, 0.5), lambda: Categorical(), lambda: Categorical(torch.tensor(1.)),
        lambda: Categorical(torch.tensor([0.5, -0.5, 3.])), lambda: Uniform(1., 0.), lambda: Normal('a', 1.),
        lambda: Bernoulli(0.5).log_prob(torch.tensor(0.3)), lambda: Uniform(0., 1.).log_prob(torch.tensor(3.)),
        lambda: Categorical(torch.ones(3)).log_prob(torch.tensor(3)), lambda: Normal(0., 1.).log_prob(1.),
        lambda: Normal(torch.zeros(2), 1.).log_prob(torch.zeros(3)), lambda: Independent(Normal(0., 1.), 1),
        lambda: Independent(Normal(torch.zeros(2), 1.), 1).log_prob(torch.zeros(3)),
        lambda: Normal(0., -1., validate_args=False).sample)]


@case
def own_ones():
    class Twice(distributions.Distribution):
        arg_constraints, support = {}, distributions.constraints.real

        def sample(self, sample_shape=torch.Size()):
            return torch.full(self._extended_shape(sample_shape), 2.)

    return Twice(torch.Size([2])).sample((3,)), repr(Twice())


if __name__ == '__main__':
    main()
