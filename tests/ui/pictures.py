# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures that `open --screenshot` wrote, and how much two of them differ. Call display.ensure() before."""
import sys

import display

try:
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf
except (ImportError, ValueError):
    print("needs python3-gi and GdkPixbuf")
    sys.exit(display.SKIPPED)


def read(path):
    return GdkPixbuf.Pixbuf.new_from_file(str(path))


def share_different(one, other, box=None, least=1):
    """Which share of a part's pixels, (x, y, width, height), differ by `least` of 255 or more in a channel."""
    assert (one.get_width(), one.get_height()) == (other.get_width(), other.get_height()), "two sizes"
    x, y, width, height = box or (0, 0, one.get_width(), one.get_height())
    channels = []
    for picture in (one, other):
        data, stride, n = picture.get_pixels(), picture.get_rowstride(), picture.get_n_channels()
        starts = [(y + row) * stride + x * n for row in range(height)]
        channels.append([b"".join(data[start + channel:start + width * n:n] for start in starts) for channel in range(3)])
    (r, g, b), (red, green, blue) = channels
    return sum(abs(r[i] - red[i]) >= least or abs(g[i] - green[i]) >= least or abs(b[i] - blue[i]) >= least
               for i in range(len(r))) / len(r)
