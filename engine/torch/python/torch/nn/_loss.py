# SPDX-License-Identifier: LGPL-2.1-or-later
"""Losses and distances as modules: each is one function of functional.py with its settings."""
from torch.nn import functional as F
from torch.nn._module import Module


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction='mean'):
        super().__init__()
        self.reduction = F.reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction='mean'):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer('weight', weight)


def _loss(name, function, *settings, base=_Loss, inputs=2):
    """A class whose instances keep `settings`, pairs of a name and a default, and pass them on by name. Old programs
    give size_average and reduce too, behind the settings."""
    names = [setting for setting, _ in settings]
    order = [*names, 'size_average', 'reduce', 'reduction']
    if base is _WeightedLoss:
        order = ['weight', 'size_average', *names[:1], 'reduce', 'reduction', *names[1:]]

    def init(self, *args, **kwargs):
        given = {**dict(zip(order, args)), **kwargs}
        unknown = set(given) - set(order)
        if unknown:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{sorted(unknown)[0]}'")
        base.__init__(self, **{key: value for key, value in given.items() if key not in names})
        for setting, default in settings:
            setattr(self, setting, given.get(setting, default))

    def forward(self, *args, **kwargs):
        weight = {'weight': self.weight} if base is _WeightedLoss else {}
        return function(*args, **kwargs, **weight, **{n: getattr(self, n) for n in names}, reduction=self.reduction)
    return type(name, (base,), {'__init__': init, 'forward': forward, '__module__': __name__})


CrossEntropyLoss = _loss('CrossEntropyLoss', F.cross_entropy, ('ignore_index', -100), ('label_smoothing', 0.0),
                         base=_WeightedLoss)
NLLLoss = _loss('NLLLoss', F.nll_loss, ('ignore_index', -100), base=_WeightedLoss)
NLLLoss2d = NLLLoss
BCELoss = _loss('BCELoss', F.binary_cross_entropy, base=_WeightedLoss)
MultiLabelSoftMarginLoss = _loss('MultiLabelSoftMarginLoss', F.multilabel_soft_margin_loss, base=_WeightedLoss)
MSELoss = _loss('MSELoss', F.mse_loss)
L1Loss = _loss('L1Loss', F.l1_loss)
SoftMarginLoss = _loss('SoftMarginLoss', F.soft_margin_loss)
HingeEmbeddingLoss = _loss('HingeEmbeddingLoss', F.hinge_embedding_loss, ('margin', 1.0))
MarginRankingLoss = _loss('MarginRankingLoss', F.margin_ranking_loss, ('margin', 0.0))
CosineEmbeddingLoss = _loss('CosineEmbeddingLoss', F.cosine_embedding_loss, ('margin', 0.0))


class SmoothL1Loss(_Loss):
    def __init__(self, size_average=None, reduce=None, reduction='mean', beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    def __init__(self, reduction='mean', delta=1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, self.reduction, self.delta)


class KLDivLoss(_Loss):
    def __init__(self, size_average=None, reduce=None, reduction='mean', log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCEWithLogitsLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer('weight', weight)
        self.register_buffer('pos_weight', pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        return F.poisson_nll_loss(log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    def __init__(self, *, full=False, eps=1e-6, reduction='mean'):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class MultiMarginLoss(_WeightedLoss):
    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError('only p == 1 and p == 2 supported')
        self.p, self.margin = p, margin

    def forward(self, input, target):
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean'):
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f'TripletMarginLoss: expected margin to be greater than 0, got {margin} instead')
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
                                     reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction='mean'):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f'TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead')
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                   margin=self.margin, swap=self.swap, reduction=self.reduction)


class PairwiseDistance(Module):
    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class CTCLoss(_Loss):
    def __init__(self, blank=0, reduction='mean', zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)
