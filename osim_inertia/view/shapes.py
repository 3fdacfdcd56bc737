"""Surfaces that no file describes: wrap objects, and sticks where a bone has no mesh."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from osim_inertia.model.paths import AnyWrapObject, WrapCylinder, WrapEllipsoid, WrapSphere, WrapTorus
from osim_inertia.view.meshes import Surface

Array = NDArray[np.float64]
AROUND = 28  # facets around an axis
ALONG = 14  # facets from pole to pole
SMALLEST = 1e-9  # m: shorter has no direction


def wrap_surface(item: AnyWrapObject) -> Surface:
    """A wrap object in its own frame; the axis of cylinders and tori is z."""
    if isinstance(item, WrapCylinder):
        ends = np.array([[item.radius, -item.length / 2], [item.radius, item.length / 2]])
        return _turned(ends)
    if isinstance(item, WrapSphere):
        return _scaled(ball(), np.full(3, item.radius))
    if isinstance(item, WrapEllipsoid):
        return _scaled(ball(), np.array(item.dimensions))
    assert isinstance(item, WrapTorus)
    angle = np.linspace(0.0, 2.0 * np.pi, ALONG + 1)
    ring, tube = item.outer_radius, item.inner_radius
    return _turned(np.stack([ring + tube * np.cos(angle), tube * np.sin(angle)], axis=1))


def ball() -> Surface:
    """The unit sphere."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, ALONG + 1)
    return _turned(np.stack([np.cos(angle), np.sin(angle)], axis=1))


def stick(start: Array, end: Array, radius: float) -> Surface:
    """A rod with round ends that is thicker at its start: a bone, if there is nothing better to show."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    if length < SMALLEST:
        sphere = ball()
        return Surface(start + radius * sphere.vertices, sphere.triangles)
    thick, thin = 1.4 * radius, radius
    quarter = np.linspace(0.0, np.pi / 2, 5)
    head = np.stack([thick * np.sin(quarter), -thick * np.cos(quarter)], axis=1)
    neck = np.array([[thin, min(2.0 * thick, 0.4 * length)], [thin, length]])
    tail = np.stack([thin * np.cos(quarter), length + thin * np.sin(quarter)], axis=1)[1:]
    surface = _turned(np.concatenate([head, neck, tail]))
    z = axis / length
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return Surface(start + surface.vertices @ np.stack([x, np.cross(z, x), z]), surface.triangles)


def _turned(profile: Array) -> Surface:
    """The surface a profile (k, 2) of radius and height sweeps about the z axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    radius, height = profile[:, :1], profile[:, 1:]
    rows = np.stack([radius * np.cos(angle), radius * np.sin(angle), height + 0.0 * angle], axis=2)
    k, place = len(profile), np.arange(len(profile) * AROUND).reshape(len(profile), AROUND)
    a, b = place[: k - 1], place[1:]
    right_a, right_b = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    lower, upper = np.stack([a, right_a, right_b], axis=2), np.stack([a, right_b, b], axis=2)
    return Surface(rows.reshape(-1, 3), np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)]))


def _scaled(surface: Surface, factors: Array) -> Surface:
    return Surface(surface.vertices * factors, surface.triangles)
