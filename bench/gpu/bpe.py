"""A byte-pair encoder: trained on counted words, encodes word by word with a bounded cache, as GPT-2's reference encoder does."""
import random
from collections import Counter, OrderedDict, defaultdict

CACHE_WORDS = 4096


class BytePairEncoder:
    """Ids 0 to 255 are bytes; the further ones are merges in the order in which they were learnt."""

    def __init__(self, ranks, pieces):
        self.ranks = ranks
        self.pieces = pieces
        self.cache = OrderedDict()

    @property
    def size(self):
        return len(self.pieces)

    @classmethod
    def train(cls, word_counts, merges):
        """`word_counts`: {word: count}. Pairs of equal count are taken in order of their ids, so that training is repeatable."""
        words = [(list((" " + word).encode()), count) for word, count in word_counts.items()]
        pairs, where = Counter(), defaultdict(set)
        for index, (ids, count) in enumerate(words):
            for pair in zip(ids, ids[1:]):
                pairs[pair] += count
                where[pair].add(index)
        ranks, pieces = {}, [bytes([b]) for b in range(256)]
        while len(ranks) < merges and pairs:
            pair, count = max(pairs.items(), key=lambda item: (item[1], -item[0][0], -item[0][1]))
            if count < 2:
                break
            new = len(pieces)
            ranks[pair] = new
            pieces.append(pieces[pair[0]] + pieces[pair[1]])
            for index in list(where[pair]):
                ids, times = words[index]
                for old in zip(ids, ids[1:]):
                    pairs[old] -= times
                    if pairs[old] <= 0:
                        del pairs[old]
                    where[old].discard(index)
                merged = _merge(ids, pair, new)
                words[index] = (merged, times)
                for now in zip(merged, merged[1:]):
                    pairs[now] += times
                    where[now].add(index)
        return cls(ranks, pieces)

    def encode(self, text):
        ids = []
        for word in text.split():
            found = self.cache.get(word)
            if found is None:
                found = self._encode_word(word)
                self.cache[word] = found
                if len(self.cache) > CACHE_WORDS:
                    self.cache.popitem(last=False)
            ids.extend(found)
        return ids

    def _encode_word(self, word):
        ids = list((" " + word).encode())
        while len(ids) > 1:
            best = min(zip(ids, ids[1:]), key=lambda pair: self.ranks.get(pair, 1 << 30))
            new = self.ranks.get(best)
            if new is None:
                break
            ids = _merge(ids, best, new)
        return ids

    def decode(self, ids):
        return b"".join(self.pieces[i] for i in ids).decode("utf-8", "replace")


def _merge(ids, pair, new):
    out, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            out.append(new)
            i += 2
        else:
            out.append(ids[i])
            i += 1
    return out


def train_on(words, seed=5, sample=30_000, merges=700):
    """An encoder for the text that `words` draws."""
    rng = random.Random(seed)
    return BytePairEncoder.train(Counter(words.draw(rng) for _ in range(sample)), merges)
