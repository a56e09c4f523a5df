"""Borders between labels, moved to where the picture's brightness changes."""

from __future__ import annotations

import numpy as np

from scstream.kernels._jit import inlined, kernel, leaf
from scstream.kernels.basics.intrinsics import (
    WINDOW,
    count_bits,
    equal_around,
    larger,
    lowest_bit,
    sums_where_equal,
    vectorise,
)
from scstream.kernels.basics.layout import uint
from scstream.kernels.basics.queue import next_piece

#: Pixels whose neighbours all have their label weigh 8; others, which may show a mixture of two colours, weigh 1.
_INNER_BITS = 3
#: A value is the weight shifted by this, plus weight times brightness: sums over a window fit into an int32.
_SHIFT = 20
#: Other labels that a pixel can have around it.
_NEIGHBOURS = 8
#: The bits of `equal_around` if all labels are equal.
_ALL = 0b111_111_111


@kernel
def weigh_pixels(queue, frame, labels, out):
    """Write the weight and brightness of each pixel, as `refine_borders` wants them, to out (H, W) int32.

    Parameters
    ----------
    queue : Queue
        Rows of the frame.
    frame : array (H, W, 3) uint8
    labels : array (H, W) int32
        W is at least 2.
    out : array (H, W) int32, output
    """
    height, width = labels.shape
    changes = np.empty(width, np.int32)
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            _find_changes(labels[max(y - 1, 0)], labels[y], labels[min(y + 1, height - 1)], changes)
            _write_brightness(frame[y].reshape(-1), out[y])
            _weigh(labels[y], changes, out[y])
        piece = next_piece(queue)


@leaf
def _write_brightness(colours, out):
    """Brightness out (W,) of a row of colours (3 W,)."""
    vectorise()
    for x in range(uint(out.shape[0])):
        red, green, blue = colours[uint(3) * x], colours[uint(3) * x + uint(1)], colours[uint(3) * x + uint(2)]
        out[x] = (np.int32(red) + np.int32(2) * np.int32(green) + np.int32(blue) + np.int32(2)) >> np.int32(2)


@leaf
def _find_changes(above, row, below, out):
    """Write to out (W,) int32 a number other than 0 in each column in which not all labels of three rows are equal."""
    vectorise()
    for x in range(uint(row.shape[0])):
        out[x] = (above[x] ^ row[x]) | (below[x] ^ row[x])


@leaf
def _weigh(row, changes, out):
    """Make the brightness out (W,) of a row of labels a value; changes (W,) as `_find_changes` leaves them."""
    vectorise()
    last = uint(row.shape[0] - 1)
    for x in range(uint(1), last):
        here = changes[x - uint(1)] | changes[x] | changes[x + uint(1)]
        here |= (row[x - uint(1)] ^ row[x]) | (row[x + uint(1)] ^ row[x])
        out[x] = _value(out[x], here)
    for edge, inward in ((uint(0), uint(1)), (last, last - uint(1))):
        out[edge] = _value(out[edge], changes[edge] | changes[inward] | (row[edge] ^ row[inward]))


@leaf
def _value(brightness, differs):
    """Value of a pixel of which ``differs`` is 0 if its neighbours have its label."""
    value = np.int32(brightness | np.int32(1 << _SHIFT))
    return np.int32(value << np.int32(_INNER_BITS)) if differs == 0 else value


@kernel
def refine_borders(queue, labels, values, bonus, doubt, out):
    """Give each pixel at a border the label, of those around it, whose pixels nearby are most alike in brightness.

    A label costs the squared difference between the pixel's brightness and the weighted mean brightness of the label
    in a window of WINDOW x WINDOW around the pixel, plus a doubt that falls with the weight of the mean, minus a bonus
    for each of the eight neighbours that have it. Labels beyond the frame repeat those at its edge; near the edge the
    window is shifted.

    Parameters
    ----------
    queue : Queue
        Rows of the frame.
    labels : array (H, W) int32
        Larger than the window.
    values : array (H, W) int32
        From `weigh_pixels`.
    bonus, doubt : float32
        In squared grey levels; the doubt belongs to a mean of weight 1.
    out : array (H, W) int32, output
    """
    height, width = labels.shape
    room, stride = _NEIGHBOURS * width, width + 3
    # Loops over the rows of one array would not vectorise.
    place, own, other = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    more, mine, theirs = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    value, gain = np.empty(room, np.int32), np.empty(room, np.float32)
    borders, around = np.empty(width + 1, np.int32), np.empty(3 * stride, np.int32)
    flat_labels, flat_values = labels.reshape(-1), values.reshape(-1)
    piece = next_piece(queue)
    while piece >= 0:
        for y in range(queue.edges[piece], queue.edges[piece + 1]):
            out[y] = labels[y]
            for i in range(3):
                _copy_padded(labels[min(max(y + i - 1, 0), height - 1)], around[i * stride : (i + 1) * stride])
            n = _list_borders(values[y], borders)
            n = _list_rivals(borders[:n], around, uint(stride), place, own, other, more)
            first = min(max(y - WINDOW // 2, 0), height - WINDOW)
            _sum_windows(flat_labels, flat_values, y, first, width, place, n, own, other, mine, theirs, value)
            _find_gains(n, mine, theirs, value, more, bonus, doubt, gain)
            _take_best(n, place, own, other, gain, out[y])
        piece = next_piece(queue)


@leaf
def _copy_padded(row, out):
    """Copy row (W,) to out[1 : W + 1], its ends repeated on either side."""
    vectorise()
    width = uint(row.shape[0])
    for x in range(width):
        out[x + uint(1)] = row[x]
    out[uint(0)], out[width + uint(1)] = row[uint(0)], row[width - uint(1)]


@leaf
def _list_borders(values, out):
    """List the columns of the pixels of a row, values (W,), that lie at a border; returns how many."""
    n = uint(0)
    for x in range(uint(values.shape[0])):
        # A branch would be mispredicted often: every pixel is written, and the next one replaces it.
        out[n] = x
        n += uint(values[x] < np.int32(1 << (_SHIFT + _INNER_BITS)))
    return n


@leaf
def _list_rivals(pixels, around, stride, place, own, other, more):
    """List the pixels (n,) of a row once for each other label around them; returns the number of entries.

    around (3 stride,) are the labels of the row above, of the row and of the one below, from the column before the
    first. Columns go to place, the labels to own and other, and how many more neighbours have the other label to more.
    """
    n = uint(0)
    for j in range(uint(pixels.shape[0])):
        x = uint(pixels[j])
        label = around[stride + x + uint(1)]
        known = equal_around(around, x, stride, label)
        same = count_bits(known) - np.int32(1)
        while known != _ALL:
            at = uint(lowest_bit(np.int32(known ^ np.int32(_ALL))))
            rival = around[(at // uint(3)) * stride + x + at % uint(3)]
            found = equal_around(around, x, stride, rival)
            place[n], own[n], other[n], more[n] = x, label, rival, count_bits(found) - same
            known |= found
            n += uint(1)
    return n


@leaf
def _sum_windows(labels, values, y, first, width, place, n, own, other, mine, theirs, value):
    """Sums of the values of either label in the window around each of n listed pixels of row y, without the pixel.

    labels and values (H W,) are those of the frame, the window's first row is ``first``.
    """
    # One column more than the window has is read, behind it or, at the right edge of the frame, before it.
    last = width - WINDOW - 1
    for i in range(n):
        column = max(np.int64(place[i]) - WINDOW // 2, 0)
        spare = np.int32(WINDOW if column <= last else 0)
        corner = uint(first * width + min(column, last))
        at = values[uint(y * width) + uint(place[i])]
        with_pixel, theirs[i] = sums_where_equal(labels, values, corner, uint(width), spare, own[i], other[i])
        mine[i] = with_pixel - at
        value[i] = at


@leaf
def _find_gains(n, mine, theirs, value, more, bonus, doubt, gain):
    """How much less the other label costs than the own one, for each of n listed pixels."""
    vectorise()
    for i in range(n):
        brightness = _brightness(value[i])
        # A pixel without another one of its label in the window has no mean, and all the more doubt.
        own_share = np.float32(1.0) / larger(_weight(mine[i]), np.float32(1.0 / 64.0))
        share = np.float32(1.0) / _weight(theirs[i])
        own_error = brightness - _brightness(mine[i]) * own_share
        error = brightness - _brightness(theirs[i]) * share
        gain[i] = (
            own_error * own_error - error * error + doubt * (own_share - share) + bonus * np.float32(more[i])
        )  # fmt: skip


@inlined
def _weight(value):
    """Weight (float32) in a value or a sum of values."""
    return np.float32(np.int32(value >> np.int32(_SHIFT)))


@inlined
def _brightness(value):
    """Brightness times weight (float32) in a value or a sum of values."""
    return np.float32(np.int32(value & np.int32((1 << _SHIFT) - 1)))


@leaf
def _take_best(n, place, own, other, gain, out):
    """Give each of the listed pixels of a row its best other label if it gains by it, and else its own."""
    x, winner, best = np.int32(-1), np.int32(-1), np.float32(0.0)
    for i in range(n):
        # Without branches: which label wins cannot be foreseen.
        is_next = place[i] != x
        x = place[i]
        winner, best = (own[i] if is_next else winner), (np.float32(0.0) if is_next else best)
        is_better = gain[i] > best
        winner, best = (other[i] if is_better else winner), (gain[i] if is_better else best)
        out[uint(x)] = winner
