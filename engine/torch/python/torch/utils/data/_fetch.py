# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gets samples out of a dataset and makes a batch of them, in the program or in a worker."""


class MapFetcher:
    """Samples by their indices. Without batches, `wanted` is one index."""

    def __init__(self, dataset, in_batches, collate_fn, drop_last):
        self.dataset, self.in_batches, self.collate_fn = dataset, in_batches, collate_fn

    def fetch(self, wanted):
        if not self.in_batches:
            return self.collate_fn(self.dataset[wanted])
        if getattr(self.dataset, '__getitems__', None):
            return self.collate_fn(self.dataset.__getitems__(wanted))
        return self.collate_fn([self.dataset[index] for index in wanted])


class IterableFetcher:
    """The next samples. Of `wanted` only the length counts. StopIteration at the end."""

    def __init__(self, dataset, in_batches, collate_fn, drop_last):
        self.samples, self.in_batches, self.collate_fn = iter(dataset), in_batches, collate_fn
        self.drop_last, self.has_ended = drop_last, False

    def fetch(self, wanted):
        if self.has_ended:
            raise StopIteration
        return self.collate_fn(self._batch(wanted) if self.in_batches else next(self.samples))

    def _batch(self, wanted):
        batch = []
        for _ in wanted:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.has_ended = True
                break
        if not batch or self.drop_last and len(batch) < len(wanted):
            raise StopIteration
        return batch
