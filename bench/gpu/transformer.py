"""A decoder-only transformer with random weights and a paged KV cache, in plain PyTorch: no compiler is needed.

Few wide layers instead of many narrow ones: a decode step then spends its time on reading weights, not on launching kernels.
"""
import torch
import torch.nn.functional as F

from scheduler import BLOCK_TOKENS

KV_HEADS = 8
HEAD = 128
VOCABULARY = 32_000
WIDE = (8192, 28_672)
NARROW = (4096, 14_336)
#: Rows of the block table: requests that were preempted keep theirs.
MAX_ROWS = 1024
#: Sequences whose lengths differ by more than this factor are not padded to one length.
PAD_FACTOR = 2


def layer_weights(hidden, ffn):
    return 2 * hidden * hidden + 2 * hidden * KV_HEADS * HEAD + 3 * hidden * ffn


def choose_size(free_bytes):
    """(hidden, ffn, layers): several GB, and room for the KV pool and the copies that attention makes."""
    hidden, ffn = WIDE if free_bytes >= 20e9 else NARROW
    layers = int(min(28e9, 0.4 * free_bytes) / (2 * layer_weights(hidden, ffn)))
    return hidden, ffn, max(2, min(16, layers))


class TransformerModel:
    simulated = False

    def __init__(self, device="cuda", size=None, pool_bytes=None, max_tokens=40_960, dtype=torch.bfloat16):
        self.device, self.dtype = device, dtype
        if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
            # cuDNN plans each shape anew, and here nearly every step has another one.
            torch.backends.cuda.enable_cudnn_sdp(False)
        free = torch.cuda.mem_get_info()[0] if device == "cuda" else 4e9
        self.hidden, self.ffn, self.layers = size or choose_size(free)
        self.heads = self.hidden // HEAD
        self.kv_bytes = self.layers * 2 * KV_HEADS * HEAD * 2
        generator = torch.Generator(device=device).manual_seed(3)

        def weight(rows, columns):
            return torch.empty(rows, columns, device=device, dtype=dtype).normal_(0.0, 0.02, generator=generator)

        kv = KV_HEADS * HEAD
        self.embedding = weight(VOCABULARY, self.hidden)
        self.blocks = [
            {
                "qkv": weight(self.hidden, self.hidden + 2 * kv),
                "out": weight(self.hidden, self.hidden),
                "gate_up": weight(self.hidden, 2 * self.ffn),
                "down": weight(self.ffn, self.hidden),
            }
            for _ in range(self.layers)
        ]
        left = torch.cuda.mem_get_info()[0] if device == "cuda" else 1e9
        pool = pool_bytes or min(0.5 * left, 60e9)
        self.pool_blocks = int(pool / self.kv_bytes / BLOCK_TOKENS)
        slots = self.pool_blocks * BLOCK_TOKENS
        self.keys = [torch.zeros(slots, kv, device=device, dtype=dtype) for _ in range(self.layers)]
        self.values = [torch.zeros(slots, kv, device=device, dtype=dtype) for _ in range(self.layers)]
        self.table = torch.zeros(MAX_ROWS, max_tokens // BLOCK_TOKENS + 1, device=device, dtype=torch.long)
        self.rows, self.free_rows = {}, list(range(MAX_ROWS))
        self.offsets = torch.arange(BLOCK_TOKENS, device=device)

    def describe(self):
        return {
            "kind": "transformer",
            "text": f"{self.layers} layers, hidden {self.hidden}, ffn {self.ffn}, {self.heads} heads, {KV_HEADS} KV heads, random {self.dtype}",
            "weights_bytes": 2 * (self.layers * layer_weights(self.hidden, self.ffn) + VOCABULARY * self.hidden),
            "kv_bytes_per_token": self.kv_bytes,
        }

    def forget(self, seq):
        row = self.rows.pop(seq.id, None)
        if row is not None:
            self.free_rows.append(row[0])

    def _row(self, seq):
        """The sequence's row of the block table, brought up to date."""
        row, generation, known = self.rows.get(seq.id) or (self.free_rows.pop(), -1, 0)
        if generation != seq.preempted:
            known = 0
        if known < len(seq.blocks):
            self.table[row, known : len(seq.blocks)] = torch.tensor(seq.blocks[known:], device=self.device)
        self.rows[seq.id] = (row, seq.preempted, len(seq.blocks))
        return row

    def _slots(self, rows, blocks):
        """[sequences, blocks * BLOCK_TOKENS] places in the pool."""
        table = self.table[torch.tensor(rows, device=self.device), :blocks]
        return (table[:, :, None] * BLOCK_TOKENS + self.offsets).flatten(1)

    def _plan_decode(self, works, first):
        """Groups of decoding sequences of like length: (rows of x, slots, mask)."""
        order = sorted(range(len(works)), key=lambda i: works[i].start)
        groups, current = [], []
        for i in order:
            if current and works[i].start + 1 > PAD_FACTOR * max(512, works[current[0]].start + 1):
                groups.append(current)
                current = []
            current.append(i)
        groups.append(current)
        planned = []
        for group in groups:
            lengths = torch.tensor([works[i].start + 1 for i in group], device=self.device)
            blocks = -(-max(works[i].start + 1 for i in group) // BLOCK_TOKENS)
            slots = self._slots([self._row(works[i].seq) for i in group], blocks)
            mask = torch.arange(blocks * BLOCK_TOKENS, device=self.device)[None, :] < lengths[:, None]
            planned.append((torch.tensor([first + i for i in group], device=self.device), slots, mask[:, None, None, :]))
        return planned

    def _plan_prefill(self, work, first):
        """(first row of x, rows, slots, mask or None when the chunk begins the sequence)."""
        end = work.start + work.count
        slots = self._slots([self._row(work.seq)], -(-end // BLOCK_TOKENS))[0, :end]
        mask = None
        if work.start > 0:
            at = torch.arange(work.start, end, device=self.device)
            mask = torch.arange(end, device=self.device)[None, :] <= at[:, None]
        return first, work.count, slots, mask

    @staticmethod
    def _gather(pool, slots):
        """Whole rows of the pool; an embedding is the gather that PyTorch copies in wide words."""
        return F.embedding(slots, pool).view(*slots.shape, KV_HEADS, HEAD)

    def _attention(self, layer, q, decode, prefill):
        out = torch.empty_like(q)
        group = self.heads // KV_HEADS
        for rows, slots, mask in decode:
            # The query heads of one KV head stand as queries of one sequence: nothing is repeated.
            k, v = (self._gather(pool[layer], slots).transpose(1, 2) for pool in (self.keys, self.values))
            queries = q[rows].view(len(rows), KV_HEADS, group, HEAD)
            out[rows] = F.scaled_dot_product_attention(queries, k, v, attn_mask=mask).reshape(len(rows), self.heads, HEAD)
        for first, count, slots, mask in prefill:
            k, v = (self._gather(pool[layer], slots).transpose(0, 1).repeat_interleave(group, 0)[None] for pool in (self.keys, self.values))
            queries = q[first : first + count].transpose(0, 1)[None]
            result = F.scaled_dot_product_attention(queries, k, v, attn_mask=mask, is_causal=mask is None)
            out[first : first + count] = result[0].transpose(0, 1)
        return out

    @torch.inference_mode()
    def step(self, work):
        works = sorted(work, key=lambda w: w.count)
        ids, where, first = [], [], 0
        decode, prefill, samples, starts = [w for w in works if w.count == 1], [], [], {}
        for w in works:
            ids.extend(w.seq.tokens[w.start : w.start + w.count])
            starts[id(w)] = first
            first += w.count
        decode_plan = self._plan_decode(decode, 0) if decode else []
        prefill = [self._plan_prefill(w, starts[id(w)]) for w in works if w.count > 1]
        for w in works:
            row = self._row(w.seq)
            position = torch.arange(w.start, w.start + w.count, device=self.device)
            where.append(self.table[row, position // BLOCK_TOKENS] * BLOCK_TOKENS + position % BLOCK_TOKENS)
        for w in work:
            if w.samples:
                samples.append(starts[id(w)] + w.count - 1)
        slots = torch.cat(where)
        x = self.embedding[torch.tensor(ids, device=self.device) % VOCABULARY]
        kv = KV_HEADS * HEAD
        for layer, weights in enumerate(self.blocks):
            q, k, v = (_norm(x) @ weights["qkv"]).split((self.hidden, kv, kv), dim=-1)
            self.keys[layer].index_copy_(0, slots, k)
            self.values[layer].index_copy_(0, slots, v)
            attended = self._attention(layer, q.reshape(-1, self.heads, HEAD), decode_plan, prefill)
            x = x + attended.reshape(-1, self.hidden) @ weights["out"]
            gate, up = (_norm(x) @ weights["gate_up"]).chunk(2, dim=-1)
            x = x + (F.silu(gate) * up) @ weights["down"]
        if not samples:
            if self.device == "cuda":
                torch.cuda.synchronize()
            return []
        last = _norm(x[torch.tensor(samples, device=self.device)])
        return (last @ self.embedding.T).argmax(-1).tolist()


def _norm(x):
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5).to(x.dtype)
