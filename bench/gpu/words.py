"""Made-up text: a fixed vocabulary of pseudo-words, drawn with Zipf weights. The same seed gives the same text."""
import bisect
import random

CONSONANTS = "bcdfghklmnprstvz"
VOWELS = "aeiou"
VOCABULARY_WORDS = 30_000


def _word(rng):
    syllables = rng.choice((1, 2, 2, 3, 3, 4))
    text = "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(syllables))
    return text + (rng.choice(CONSONANTS) if rng.random() < 0.4 else "")


class Words:
    """Draws words; rank r has the weight 1 / (r + 3)."""

    def __init__(self, seed=11, size=VOCABULARY_WORDS):
        rng = random.Random(seed)
        seen = set()
        while len(seen) < size:
            seen.add(_word(rng))
        self.words = sorted(seen)
        rng.shuffle(self.words)
        total, self.cumulative = 0.0, []
        for rank in range(size):
            total += 1.0 / (rank + 3)
            self.cumulative.append(total)

    def draw(self, rng):
        at = bisect.bisect_left(self.cumulative, rng.random() * self.cumulative[-1])
        return self.words[min(at, len(self.words) - 1)]

    def text(self, rng, count):
        return " ".join(self.draw(rng) for _ in range(count))
