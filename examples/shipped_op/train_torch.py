# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with the op in it: python train_torch.py [--device cuda]"""

import argparse

import torch
from rms_norm import rms_norm

import spanwise as sw

norm = sw.torch_op(rms_norm)


class RMSNorm(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return norm(x, self.weight)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    torch.manual_seed(0)
    x = torch.randn(256, 8, device=device)
    y = torch.sin(x.sum(dim=1, keepdim=True))
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 64), RMSNorm(64), torch.nn.Tanh(), torch.nn.Linear(64, 1)
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} on {device}")


if __name__ == "__main__":
    main()
