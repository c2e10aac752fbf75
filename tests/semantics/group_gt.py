# SPDX-License-Identifier: LGPL-2.1-or-later
"""Golden traces."""
from harness import row, order_of, counts_of


@row('GT-14', tape=lambda events: [order_of(events), counts_of(events)])
def exp_sum(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    torch.exp(x).sum().backward()
    return x.grad.tolist()
