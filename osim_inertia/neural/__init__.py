"""The papers' way with wrapping: networks that give the points of a muscle on a cylinder.

    canonical.py   what symmetry leaves of a cylinder's five numbers, and the range a network is trained for
    inference.py   a trained network in NumPy: values, derivatives, second derivatives along a motion; no PyTorch
    sampling.py    samples of the exact paths
    network.py     the multilayer perceptrons, in PyTorch
    train.py       training with seeds, checkpoints and learning curves, in PyTorch

PyTorch is imported by the last two alone, and only for training. `cylinder.npz` is the network that comes with the
package; cylinder.md says how it was made and how good it is.
"""
