"""Mesh files of a model: found as OpenSim finds them, read into vertices and triangles.

    Mesh.file --find_mesh--> path --read_mesh--> Surface --scene--> Scene
                     ^ here               ^ here
.vtp (VTK PolyData, every encoding), .stl (text and binary) and .obj. Only the shape is read: colours, normals and
textures are not.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from osim_inertia.errors import FileError
from osim_inertia.files import is_file

MAX_FILE_BYTES = 200_000_000
VTK_TYPES = {"Float32": "f4", "Float64": "f8", "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2",
             "Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8"}  # fmt: skip
STL_HEADER, STL_TRIANGLE = 84, 50  # bytes


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles between shared vertices."""

    vertices: NDArray[np.float64]  # (n, 3) m
    triangles: NDArray[np.int64]  # (m, 3) counter-clockwise seen from outside


def find_mesh(file: str, model: str, geometry: Sequence[Path] = ()) -> Path | None:
    """Where a mesh file is: beside the model, in its Geometry folder, then in the folders given, the last first."""
    name = Path(file.replace("\\", "/"))
    if name.is_absolute():
        return name if is_file(name) else None
    home = Path(model).parent
    for folder in (home, home / "Geometry", *reversed(geometry)):
        if is_file(folder / name):
            return folder / name
    return None


def read_mesh(path: Path) -> Surface:
    """The surface in a .vtp, .stl or .obj file; FileError if there is none."""
    readers = {".vtp": _read_vtp, ".stl": _read_stl, ".obj": _read_obj}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FileError("Meshes of this kind cannot be read.", file=path, expected=", ".join(readers))
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FileError("The mesh is larger than 200 MB.", file=path)
        vertices, triangles = reader(path.read_bytes())
        vertices = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
        triangles = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    except OSError as error:
        raise FileError(f"The file cannot be read: {error.strerror or error}.", file=path) from None
    except (ValueError, KeyError, IndexError, TypeError, etree.XMLSyntaxError, zlib.error) as error:
        raise FileError(f"The mesh is damaged: {error}.", file=path) from None
    if not len(triangles) or triangles.min() < 0 or triangles.max() >= len(vertices) or not np.isfinite(vertices).all():
        raise FileError("The mesh has no triangles, or triangles without vertices.", file=path)
    return Surface(vertices, triangles)


def fan(corners: NDArray[np.int64] | Sequence[int], ends: NDArray[np.int64] | Sequence[int]) -> NDArray[np.int64]:
    """Triangles (m, 3) of polygons given by all their corners in one row, and the place after each polygon's last."""
    corners, ends = np.asarray(corners, dtype=np.int64), np.asarray(ends, dtype=np.int64)
    sizes = np.diff(ends, prepend=0)
    first = np.repeat(ends - sizes, np.maximum(sizes - 2, 0))
    start = np.cumsum(np.maximum(sizes - 2, 0)) - np.maximum(sizes - 2, 0)
    step = np.arange(len(first)) - np.repeat(start, np.maximum(sizes - 2, 0))
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)


# ---- VTK PolyData ---------------------------------------------------------------------------------------------------
def _read_vtp(data: bytes) -> tuple[NDArray, NDArray]:
    root, appended = _vtk_tree(data)
    order = ">" if root.get("byte_order") == "BigEndian" else "<"
    header = np.dtype(order + VTK_TYPES[root.get("header_type", "UInt32")])
    packed = root.get("compressor") is not None
    vertices, triangles, known = [], [], 0
    for piece in root.iter("Piece"):

        def values(holder: str, name: str | None = None, piece: etree._Element = piece) -> NDArray:
            found = piece.iterfind(f"{holder}/DataArray")
            array = next((item for item in found if name is None or item.get("Name") == name), None)
            return np.empty(0) if array is None else _vtk_values(array, order, header, packed, appended)

        points = values("Points").reshape(-1, 3)
        strips = values("Strips", "connectivity").astype(np.int64), values("Strips", "offsets").astype(np.int64)
        triangles.append(known + fan(values("Polys", "connectivity"), values("Polys", "offsets")))
        triangles += [known + _strip(strip) for strip in np.split(strips[0], strips[1]) if len(strip) > 2]
        vertices.append(points)
        known += len(points)
    return np.concatenate(vertices), np.concatenate(triangles)


def _vtk_tree(data: bytes) -> tuple[etree._Element, tuple[str, bytes]]:
    """The XML, and encoding and bytes of its AppendedData, which may be raw and then is no XML."""
    appended = ("", b"")
    found = re.search(rb"<AppendedData[^>]*encoding=\"(\w+)\"[^>]*>\s*_", data)
    if found:
        end = data.rindex(b"</AppendedData>")
        appended = (found.group(1).decode(), data[found.end() : end])
        data = data[: found.start()] + data[end + len(b"</AppendedData>") :]
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    root = etree.fromstring(data, parser)
    if root.tag != "VTKFile" or root.get("type") != "PolyData":
        raise ValueError("it is no VTK PolyData")
    return root, appended


def _vtk_values(
    array: etree._Element, order: str, header: np.dtype, packed: bool, appended: tuple[str, bytes]
) -> NDArray:
    kind = np.dtype(order + VTK_TYPES[array.get("type", "Float32")])
    way = array.get("format", "ascii")
    if way == "ascii":
        return np.array((array.text or "").split(), dtype=kind.newbyteorder("="))
    if way == "binary":
        return np.frombuffer(_vtk_block("".join((array.text or "").split()).encode(), header, packed, True), kind)
    encoding, data = appended
    data = data[int(array.get("offset", "0")) :]
    return np.frombuffer(_vtk_block(data, header, packed, encoding == "base64"), kind)


def _vtk_block(data: bytes, header: np.dtype, packed: bool, as_text: bool) -> bytes:
    """The bytes of one array: a header (size, or number and sizes of zlib blocks), then the data.

    In base64 the header of a packed array is encoded on its own; that of a plain one together with the data.
    """
    size = header.itemsize

    def decoded(start: int, count: int) -> bytes:
        """`count` bytes from what starts at place `start` of the text or of the raw bytes."""
        if not as_text:
            return data[start : start + count]
        return base64.b64decode(data[start : start + _text_size(count)])[:count]

    if not packed:
        count = int(np.frombuffer(decoded(0, size), header)[0])
        return decoded(0, size + count)[size:]
    blocks = int(np.frombuffer(decoded(0, size), header)[0])
    head = (3 + blocks) * size
    sizes = np.frombuffer(decoded(0, head), header)[3:].astype(np.int64)
    body = decoded(_text_size(head) if as_text else head, int(sizes.sum()))
    ends = np.cumsum(sizes)
    return b"".join(zlib.decompress(body[end - count : end]) for end, count in zip(ends, sizes))


def _text_size(count: int) -> int:
    return 4 * ((count + 2) // 3)


def _strip(corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of a strip; every other one is turned round."""
    triangles = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    triangles[1::2] = triangles[1::2, ::-1]
    return triangles


# ---- STL and OBJ ----------------------------------------------------------------------------------------------------
def _read_stl(data: bytes) -> tuple[NDArray, NDArray]:
    count = int(np.frombuffer(data[80:84].ljust(4, b"\0"), "<u4")[0])
    if len(data) >= STL_HEADER and len(data) == STL_HEADER + STL_TRIANGLE * count:
        rows = np.frombuffer(data, np.uint8, offset=STL_HEADER).reshape(-1, STL_TRIANGLE)
        corners = np.ascontiguousarray(rows[:, 12:48]).view("<f4").reshape(-1, 3)
    else:
        numbers = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", data)
        corners = np.array(numbers, dtype=np.float64).reshape(-1, 3)
    vertices, index = np.unique(corners, axis=0, return_inverse=True)  # STL repeats its vertices
    return vertices, index.reshape(-1, 3)


def _read_obj(data: bytes) -> tuple[NDArray, NDArray]:
    vertices: list[list[str]] = []
    corners: list[int] = []
    ends: list[int] = []
    for line in data.decode("utf-8", "replace").replace("\\\n", " ").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(words[1:4])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            corners += [number - 1 if number > 0 else len(vertices) + number for number in numbers]
            ends.append(len(corners))
    return np.array(vertices, dtype=np.float64), fan(corners, ends)
