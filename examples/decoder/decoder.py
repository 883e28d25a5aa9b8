# SPDX-License-Identifier: Apache-2.0
"""A decoder of LLaMA's shape from a GGUF file with Q4_0 tensors, whose tokens are the same on every
CPU.

    decoder.py <file.gguf> [--prompt 1,2,3] [--tokens 16] [--threads 1]
    decoder.py --random <file.gguf>     writes a small file of random weights

Products run on octet.Linear4. All else is NumPy, of operations that IEEE 754 defines, in a fixed
order (README.md).
"""

import argparse
import hashlib

import gguf
import numpy as np

import octet

F = np.float32


def total(x):
    """Sums along the last axis in a fixed order: halves are added until one element is left."""
    while x.shape[-1] > 1:
        if x.shape[-1] % 2:
            x = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1)
        half = x.shape[-1] // 2
        x = x[..., :half] + x[..., half:]
    return x


def exp(x):
    """e^x of x <= 0: a polynomial of the rest after a power of two, without FMA."""
    x = np.maximum(x, F(-80))
    power = np.rint(x * F(1.442695))
    rest = x - power * F(0.69314718)
    sum_ = np.ones_like(rest)
    for divisor in range(7, 0, -1):  # Horner's scheme of 1 + r (1 + r / 2 (1 + ...))
        sum_ = F(1) + rest * sum_ / F(divisor)
    return np.ldexp(sum_, power.astype(np.int32))


def silu(x):
    e = exp(-np.abs(x))
    return x * (np.where(x < 0, e, F(1)) / (F(1) + e))


def rms_norm(x, weight, epsilon):
    mean = total(x * x) / F(x.shape[-1])
    return x / np.sqrt(mean + F(epsilon)) * weight


def rotations(positions, size, base):
    """(cos, sin), (positions, size / 2), of small angles by series and of others by products."""
    # cos and sin of the angle of position 1, from Taylor's series in double; base^(2 i / size) by
    # square roots only where size is a power of two
    root = np.float64(base)
    for _ in range(int(size // 2).bit_length() - 1):
        root = np.sqrt(root)
    angles = np.ones(size // 2)
    for i in range(1, size // 2):
        angles[i] = angles[i - 1] / root
    cos, sin, term = np.zeros_like(angles), np.zeros_like(angles), np.ones_like(angles)
    for i in range(24):
        if i % 2:
            sin = sin + (term if i % 4 == 1 else -term)
        else:
            cos = cos + (term if i % 4 == 0 else -term)
        term = term * angles / (i + 1)
    table = [(np.ones_like(cos), np.zeros_like(sin))]
    for _ in range(positions - 1):  # the angles of the next position, by the addition theorem
        c, s = table[-1]
        table.append((c * cos - s * sin, s * cos + c * sin))
    return tuple(np.stack(part).astype(F) for part in zip(*table))


def rotate(x, cos, sin):
    """Turns the pairs (x[2 i], x[2 i + 1]) of x, (heads, size)."""
    even, odd = x[:, ::2], x[:, 1::2]
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(x.shape)


class Decoder:
    """A model of one file, with the keys and values of the tokens so far.

    positions: the most tokens, prompt included
    """

    def __init__(self, path, positions, threads=1):
        reader = gguf.GGUFReader(path)
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}

        def number(key):
            return reader.fields[f"llama.{key}"].contents()

        self.blocks, self.heads = number("block_count"), number("attention.head_count")
        self.kv_heads = number("attention.head_count_kv")
        self.epsilon = number("attention.layer_norm_rms_epsilon")
        self.width, self.threads = number("embedding_length"), threads
        self.size = self.width // self.heads
        self.cos, self.sin = rotations(positions, self.size, number("rope.freq_base"))
        self.embedding = self.floats("token_embd.weight")
        self.final_norm, self.output = self.floats("output_norm.weight"), self.linear("output")
        names = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        self.layers = [
            {
                **{name: self.linear(f"blk.{i}.{name}") for name in names},
                **{name: self.floats(f"blk.{i}.{name}.weight") for name in ("attn_norm", "ffn_norm")},
                "keys": [],
                "values": [],
            }
            for i in range(self.blocks)
        ]

    def floats(self, name):
        tensor = self.tensors[name]
        if tensor.tensor_type != gguf.GGMLQuantizationType.F32:
            raise SystemExit(f"{name} is {tensor.tensor_type.name}: F32 is needed")
        return np.ascontiguousarray(tensor.data)

    def linear(self, name):
        tensor = self.tensors[name + ".weight"]
        if tensor.tensor_type != gguf.GGMLQuantizationType.Q4_0:
            raise SystemExit(f"{name}.weight is {tensor.tensor_type.name}: Q4_0 is needed")
        layer = octet.Linear4.from_q4_0(tensor.data)
        return lambda x: layer(np.ascontiguousarray(x, F), threads=self.threads)

    def attention(self, layer, x, position):
        heads, size = (-1, self.size), self.size
        cos, sin = self.cos[position], self.sin[position]
        query = rotate(layer["attn_q"](x).reshape(heads), cos, sin)
        layer["keys"].append(rotate(layer["attn_k"](x).reshape(heads), cos, sin))
        layer["values"].append(layer["attn_v"](x).reshape(heads))
        group = self.heads // self.kv_heads
        keys = np.repeat(np.stack(layer["keys"]), group, axis=1)  # (tokens, heads, size)
        values = np.repeat(np.stack(layer["values"]), group, axis=1)
        scores = total(query * keys)[..., 0] / np.sqrt(F(size))  # (tokens, heads)
        weights = exp(scores - scores.max(axis=0))
        mixed = total(np.moveaxis(weights[..., None] * values, 0, -1))[..., 0]
        return layer["attn_output"]((mixed / total(weights.T)).reshape(-1))

    def step(self, token, position):
        """The logits after one more token."""
        x = self.embedding[token]
        for layer in self.layers:
            x = x + self.attention(layer, rms_norm(x, layer["attn_norm"], self.epsilon), position)
            y = rms_norm(x, layer["ffn_norm"], self.epsilon)
            x = x + layer["ffn_down"](silu(layer["ffn_gate"](y)) * layer["ffn_up"](y))
        return self.output(rms_norm(x, self.final_norm, self.epsilon))


def generate(path, prompt, count, threads=1):
    """(tokens, bytes of the last logits): each token has the largest logit."""
    decoder, tokens = Decoder(path, len(prompt) + count, threads), []
    for position, token in enumerate(prompt):
        logits = decoder.step(token, position)
    for position in range(len(prompt), len(prompt) + count):
        tokens.append(int(logits.argmax()))
        logits = decoder.step(tokens[-1], position)
    return tokens, logits.tobytes()


def write_random(path, width=64, hidden=128, blocks=2, heads=4, kv_heads=2, vocabulary=96):
    """A file with random weights of these sizes."""
    rng, writer = np.random.default_rng(0), gguf.GGUFWriter(path, "llama")
    writer.add_block_count(blocks)
    writer.add_embedding_length(width)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    kv = width // heads * kv_heads
    shapes = {"attn_q": (width, width), "attn_k": (kv, width), "attn_v": (kv, width)}
    shapes.update(attn_output=(width, width), ffn_gate=(hidden, width))
    shapes.update(ffn_up=(hidden, width), ffn_down=(width, hidden))

    def matrix(name, shape):
        q4_0 = gguf.GGMLQuantizationType.Q4_0
        w = (rng.random(shape) - 0.5).astype(F) / F(4)
        writer.add_tensor(name + ".weight", gguf.quants.quantize(w, q4_0), raw_dtype=q4_0)

    for i in range(blocks):
        for name, shape in shapes.items():
            matrix(f"blk.{i}.{name}", shape)
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{name}.weight", np.ones(width, F))
    writer.add_tensor("token_embd.weight", (rng.random((vocabulary, width)) - 0.5).astype(F))
    writer.add_tensor("output_norm.weight", np.ones(width, F))
    matrix("output", (vocabulary, width))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("file")
    parser.add_argument("--random", action="store_true", help="write the file")
    parser.add_argument("--prompt", default="1,2,3", help="numbers of tokens")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    if given.random:
        return write_random(given.file)
    prompt = [int(token) for token in given.prompt.split(",")]
    tokens, logits = generate(given.file, prompt, given.tokens, given.threads)
    print(*tokens)
    print("digest of the last logits", hashlib.sha256(logits).hexdigest())
    return None


if __name__ == "__main__":
    main()
