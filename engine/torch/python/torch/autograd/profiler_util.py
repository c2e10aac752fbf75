# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a profile has: events with times in microseconds, their averages by name, and the table of them."""
import json

__all__ = ['EventList', 'FunctionEvent', 'FunctionEventAvg', 'Interval']

_ORDERS = ('cpu_time', 'cpu_time_total', 'self_cpu_time_total', 'count')


def _format_time(time_us):
    """A time with its unit."""
    for unit, size in (('s', 1e6), ('ms', 1e3)):
        if time_us >= size:
            return f'{time_us / size:.3f}{unit}'
    return f'{time_us:.3f}us'


def _format_time_share(time_us, total_time_us):
    return f'{time_us * 100 / total_time_us if total_time_us else 0:.2f}%'


class Interval:
    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class _Times:
    """What an event and an average of events have in common. There are no times of devices."""
    device_time_total = self_device_time_total = device_time = 0
    cpu_memory_usage = device_memory_usage = 0
    input_shapes = None

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0

    @property
    def cpu_time_str(self):
        return _format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self):
        return _format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self):
        return _format_time(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One call."""
    count = 1

    def __init__(self, id, name, thread, start_us, end_us, overload_name=None, fwd_thread=None, input_shapes=None,
                 stack=None, scope=0, use_device=None, cpu_memory_usage=0, device_memory_usage=0, is_async=False,
                 is_remote=False, sequence_nr=-1, node_id=-1, **others):
        self.id, self.node_id, self.name, self.overload_name, self.trace_name = id, node_id, name, overload_name, name
        self.thread, self.fwd_thread, self.scope, self.stack = thread, fwd_thread, scope, stack
        self.time_range, self.input_shapes, self.sequence_nr = Interval(start_us, end_us), input_shapes, sequence_nr
        self.is_async, self.is_remote, self.use_device = is_async, is_remote, use_device
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.cpu_children, self.cpu_parent = [], None

    def append_cpu_child(self, child):
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    @property
    def key(self):
        return self.name

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    def __repr__(self):
        return (f'<FunctionEvent id={self.id} name={self.name} node_id={self.node_id} cpu_time={self.cpu_time_str} '
                f'start_us={self.time_range.start} end_us={self.time_range.end} '
                f'cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} '
                f'input_shapes={self.input_shapes} seq_nr={self.sequence_nr}>')


class FunctionEventAvg(_Times):
    """All calls of one name."""

    def __init__(self):
        self.key, self.count, self.cpu_time_total, self.self_cpu_time_total = None, 0, 0, 0

    def add(self, other):
        """Counts an event, or another average, in."""
        if self.key is None:
            self.key, self.input_shapes = other.key, other.input_shapes
        times = other.cpu_time_total, other.self_cpu_time_total, other.count
        self.cpu_time_total, self.self_cpu_time_total, self.count = (
            self.cpu_time_total + times[0], self.self_cpu_time_total + times[1], self.count + times[2])
        return self

    __iadd__ = add

    def __repr__(self):
        return (f'<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} '
                f' input_shapes={self.input_shapes}>')


def _columns(event, total, with_shapes):
    row = [event.key, _format_time_share(event.self_cpu_time_total, total), event.self_cpu_time_total_str,
           _format_time_share(event.cpu_time_total, total), event.cpu_time_total_str, event.cpu_time_str, str(event.count)]
    return row + ([str(event.input_shapes or [])] if with_shapes else [])


class EventList(list):
    """Events in the order in which they began, or averages."""

    def __init__(self, *args, use_device=None, profile_memory=False, with_flops=False):
        super().__init__(*args)

    def _populate_cpu_children(self):
        """Hangs each event below the innermost event of its thread that lasts at least as long."""
        inside = {}
        for event in sorted(self, key=lambda e: (e.thread, e.time_range.start, -e.time_range.end)):
            open_ = inside.setdefault(event.thread, [])
            while open_ and not (event.time_range.start < open_[-1].time_range.end >= event.time_range.end):
                open_.pop()
            if open_:
                open_[-1].append_cpu_child(event)
                event.set_cpu_parent(open_[-1])
            open_.append(event)

    @property
    def self_cpu_time_total(self):
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """An average for each name, or for each name with shapes of inputs."""
        found = {}
        for event in self:
            key = (event.key, str(event.input_shapes) if group_by_input_shape else None)
            found.setdefault(key, FunctionEventAvg()).add(event)
        return EventList(found.values())

    def total_average(self):
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = 'Total'
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
              header=None, top_level_events_only=False):
        """The events as text, those that took longest first if sort_by says so."""
        if sort_by is not None and sort_by not in _ORDERS:
            raise ValueError(f'sort_by should be one of {", ".join(_ORDERS)}, but got {sort_by}')
        events = [e for e in self if not top_level_events_only or getattr(e, 'cpu_parent', None) is None]
        events = sorted(events, key=lambda e: -getattr(e, sort_by)) if sort_by else events
        events = events if row_limit < 0 else events[:row_limit]
        with_shapes = any(e.input_shapes for e in events)
        head = ['Name', 'Self CPU %', 'Self CPU', 'CPU total %', 'CPU total', 'CPU time avg', '# of Calls']
        rows = [head + (['Input Shapes'] if with_shapes else [])]
        rows += [_columns(e, self.self_cpu_time_total, with_shapes) for e in events]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        line = '  '.join('-' * width for width in widths)
        text = ['  '.join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
        lines = [line, text[0], line, *text[1:], line, f'Self CPU time total: {_format_time(self.self_cpu_time_total)}']
        return '\n'.join([header, *lines] if header else lines) + '\n'

    __str__ = table

    def export_chrome_trace(self, path):
        """Writes the events for chrome://tracing."""
        events = [{'name': e.name, 'ph': 'X', 'ts': e.time_range.start, 'dur': e.time_range.elapsed_us(), 'tid': e.thread,
                   'pid': 'CPU functions', 'args': {}} for e in self]
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(events, file)
