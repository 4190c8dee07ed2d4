#!/usr/bin/env python3
"""Trains a small FP32 transformer on random data with PyTorch. Prints a line for each step: case,ms,loss.

The program knows nothing of Stridewise; measure_drop_in.py runs it.
"""

import time

import torch

STEPS = 24


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    width, tokens, batch, words = 1024, 512, 16, 4096
    model = torch.nn.Sequential(
        torch.nn.Embedding(words, width), *[Block(width, 16) for _ in range(6)], torch.nn.Linear(width, words)
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.randint(words, (4, batch, tokens + 1), device="cuda")
    losses = []
    times = []
    for step in range(STEPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        text = data[step % len(data)]
        loss = torch.nn.functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        times.append(1000 * (time.perf_counter() - start))
    for step, (loss, ms) in enumerate(zip(losses, times)):
        print(f"step {step:02},{ms:.3f},{loss:.7f}")


if __name__ == "__main__":
    main()
