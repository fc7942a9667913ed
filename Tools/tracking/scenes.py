# SPDX-License-Identifier: Apache-2.0
"""Generated scenes and walks, the same in Tests/ApusTrackingTests/Scene.swift: integers of SplitMix64, divided by powers of two or 1000."""

MASK = (1 << 64) - 1


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def below(self, count):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % count


def scene(seed, objects, frames):
    """Frames of (left, top, width, height, score): objects that wander, jitter, hide and meet, and false alarms."""
    random = SplitMix64(seed)
    below = random.below
    movers = []
    for _ in range(objects):
        movers.append([below(1600 * 64), below(800 * 64), below(513) - 256, below(257) - 128, 40 + below(80), 80 + below(120)])
    result = []
    for _ in range(frames):
        boxes = []
        for mover in movers:
            mover[0] += mover[2]
            mover[1] += mover[3]
            if not 0 <= mover[0] <= 1800 * 64:
                mover[2] = -mover[2]
            if not 0 <= mover[1] <= 900 * 64:
                mover[3] = -mover[3]
            chance = below(100)
            x, y = mover[0] + below(385) - 192, mover[1] + below(385) - 192
            width, height = mover[4] + below(9) - 4, mover[5] + below(9) - 4
            score = below(1000)
            if chance < 12:
                continue
            boxes.append((x / 64, y / 64, float(width), float(height), (score if chance < 35 else 600 + score * 4 // 10) / 1000))
        if below(4) == 0:
            boxes.append((float(below(1800)), float(below(900)), float(20 + below(100)), float(20 + below(200)), below(1000) / 1000))
        if below(2) == 0:
            boxes.reverse()
        result.append(boxes)
    return result


def walk(seed):
    """A line, and frames of one box or None: a random walk across the line and back, with flicker, pauses and gaps."""
    below = SplitMix64(seed).below
    line = [below(640), below(480), below(640), below(480)]
    if line[0] == line[2] and line[1] == line[3]:
        line[2] += 1
    minimum = 1 + below(4)
    # The box wanders around a point of the line, mostly across it.
    along = below(1025)
    x = (line[0] * (1024 - along) + line[2] * along) + (below(161) - 80) * 1024
    y = (line[1] * (1024 - along) + line[3] * along) + (below(161) - 80) * 1024
    vx, vy = (below(41) - 20) * 1024, (below(41) - 20) * 1024
    frames = []
    for _ in range(20 + below(60)):
        if below(8) == 0:
            vx, vy = (below(41) - 20) * 1024, (below(41) - 20) * 1024
        x += vx + (below(12289) - 6144)
        y += vy + (below(12289) - 6144)
        if below(12) == 0:
            x, y = 2 * line[0] * 1024 - x, 2 * line[1] * 1024 - y
        if below(10) == 0:
            frames.append(None)
        else:
            width, height = 4 + below(30), 4 + below(60)
            frames.append(((x + below(1024)) / 1024 - width / 2, (y + below(1024)) / 1024 - height, float(width), float(height)))
    return line, minimum, frames
