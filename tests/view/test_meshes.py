"""Mesh files: every encoding of one solid must give the solid, whose volume is known."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from osim_inertia.errors import FileError
from osim_inertia.view.meshes import Surface, find_mesh, read_mesh

# A box 1 × 2 × 3 with a corner at the origin: outward faces of four corners.
CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
VOLUME = 6.0


def volume(surface: Surface) -> float:
    """By the divergence theorem: positive if the triangles are seen counter-clockwise from outside."""
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0)


# ---- VTK ------------------------------------------------------------------------------------------------------------
def encoded(values: np.ndarray, order: str, header: str, packed: bool, as_text: bool) -> bytes:
    """As VTK's documentation of its XML formats describes it."""
    data = values.astype(values.dtype.newbyteorder(order)).tobytes()
    number = np.dtype(header).newbyteorder(order)
    coded = base64.b64encode if as_text else bytes
    if not packed:
        return coded(np.array([len(data)], number).tobytes() + data)
    size = 40  # bytes in a block, so that there are several
    blocks = [data[i : i + size] for i in range(0, len(data), size)]
    small = [zlib.compress(block) for block in blocks]
    rest = len(data) % size
    head = np.array([len(blocks), size, rest, *map(len, small)], number).tobytes()
    return coded(head) + coded(b"".join(small))


def vtp(way: str, *, order: str = "<", header: str = "u4", packed: bool = False, strips: bool = False) -> bytes:
    arrays = {
        "points": CORNERS.astype("f4"),
        "connectivity": np.array(FACES, "i4").ravel(),
        "offsets": np.arange(4, 25, 4).astype("i8"),
    }
    if strips:  # a face 0 1 2 3 is the strip 0 1 3 2
        arrays["connectivity"] = np.array(FACES, "i4")[:, [0, 1, 3, 2]].ravel()
    appended, parts = b"", {}
    for name, values in arrays.items():
        kind = {"f4": "Float32", "i4": "Int32", "i8": "Int64"}[values.dtype.str[1:]]
        tag = f'<DataArray type="{kind}" Name="{name}"' + (' NumberOfComponents="3"' if name == "points" else "")
        if way == "ascii":
            parts[name] = f'{tag} format="ascii">{" ".join(map(str, values.ravel()))}</DataArray>'.encode()
        elif way == "binary":
            text = encoded(values, order, header, packed, True)
            parts[name] = f'{tag} format="binary">\n  '.encode() + text + b"\n</DataArray>"
        else:
            parts[name] = f'{tag} format="appended" offset="{len(appended)}"/>'.encode()
            appended += encoded(values, order, header, packed, way == "appended base64")
    if appended:
        encoding = "base64" if way == "appended base64" else "raw"
        appended = f'<AppendedData encoding="{encoding}">\n_'.encode() + appended + b"\n</AppendedData>"
    block = "Strips" if strips else "Polys"
    endian = "LittleEndian" if order == "<" else "BigEndian"
    attributes = f'byte_order="{endian}" header_type="UInt{8 * int(header[1])}"'
    attributes += ' compressor="vtkZLibDataCompressor"' if packed else ""
    return (f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" {attributes}><PolyData><Piece>'
            "<Points>").encode() + parts["points"] + f"</Points><{block}>".encode() + parts["connectivity"] \
        + parts["offsets"] + f"</{block}></Piece></PolyData>".encode() + appended + b"</VTKFile>"  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("header", ["u4", "u8"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("way", ["binary", "appended raw", "appended base64"])
def test_vtp_in_every_encoding_is_the_same_box(tmp_path, way, order, header, packed):
    file = tmp_path / "box.vtp"
    file.write_bytes(vtp(way, order=order, header=header, packed=packed))
    box = read_mesh(file)
    np.testing.assert_array_equal(box.vertices, CORNERS)
    assert volume(box) == pytest.approx(VOLUME, rel=1e-12)


@pytest.mark.parametrize("strips", [False, True])
def test_vtp_in_text_with_polygons_or_strips(tmp_path, strips):
    file = tmp_path / "box.vtp"
    file.write_bytes(vtp("ascii", strips=strips))
    assert volume(read_mesh(file)) == pytest.approx(VOLUME, rel=1e-12)


def test_bones_are_closed_surfaces_turned_outwards(shared_data):
    # Divergence theorem once more: the volume of a closed surface does not depend on where the origin is. (Pelvis,
    # foot, tibia and the right femur of this set have holes.)
    for name in ("l_femur", "l_fibula", "r_fibula", "l_patella", "r_talus", "l_bofoot", "sacrum"):
        bone = read_mesh(shared_data / "geometry" / f"{name}.vtp")
        moved = Surface(bone.vertices + 0.1, bone.triangles)
        assert 1e-5 < volume(bone) < 1e-3, name  # m³
        assert volume(moved) == pytest.approx(volume(bone), rel=1e-9), name


# ---- STL, OBJ -------------------------------------------------------------------------------------------------------
def triangles() -> np.ndarray:
    return CORNERS[[[face[0], face[k], face[k + 1]] for face in FACES for k in (1, 2)]]


def test_stl_in_text_and_in_binary(tmp_path):
    text = "solid box\n" + "".join(
        "facet normal 0 0 0\nouter loop\n" + "".join(f"vertex {x:e} {y:e} {z:e}\n" for x, y, z in corners)
        + "endloop\nendfacet\n" for corners in triangles()) + "endsolid box\n"  # fmt: skip
    binary = b"solid but binary".ljust(80) + struct.pack("<I", len(triangles()))
    binary += b"".join(struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0) for corners in triangles())
    for name, data in (("text.stl", text.encode()), ("BINARY.STL", binary)):
        (tmp_path / name).write_bytes(data)
        box = read_mesh(tmp_path / name)
        assert volume(box) == pytest.approx(VOLUME, rel=1e-12)
        assert len(box.vertices) == len(CORNERS)  # shared again, though the format repeats them


def test_obj_with_polygons_textures_and_counting_from_the_end(tmp_path):
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    lines += [f"f {' '.join(f'{i + 1}/1/1' for i in face)}" for face in FACES[:3]]
    lines += [f"f {' '.join(str(i - len(CORNERS)) for i in face)}" for face in FACES[3:]]
    (tmp_path / "box.obj").write_text("# box\n" + "\n".join(lines) + "\n")
    assert volume(read_mesh(tmp_path / "box.obj")) == pytest.approx(VOLUME, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "data"),
    [("cut.vtp", vtp("binary", packed=True)[:700]), ("empty.vtp", b""), ("no.vtp", b"<a/>"), ("no.stl", b"nothing"),
     ("no.obj", b"v 1 2\nf 1 2 3\n"), ("far.obj", b"v 0 0 0\nf 1 2 3\n"), ("bone.ply", b"ply"),
     ("broken.vtp", vtp("ascii").replace(b"connectivity", b"c")),
     ("wild.vtp", vtp("binary", packed=True).replace(b"AwAAA", b"////A"))],
)  # fmt: skip
def test_damaged_meshes_are_refused_in_words(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError):
        read_mesh(tmp_path / name)


# ---- where they are -------------------------------------------------------------------------------------------------
def test_meshes_are_looked_for_where_opensim_looks(tmp_path):
    model = str(tmp_path / "model.osim")
    folders = [tmp_path / "third", tmp_path / "second"]  # the folder named last counts first
    places = [tmp_path / "a.stl", tmp_path / "Geometry" / "a.stl", tmp_path / "second" / "a.stl",
              tmp_path / "third" / "a.stl"]  # fmt: skip
    for place in reversed(places):
        place.parent.mkdir(exist_ok=True)
        place.touch()
        assert find_mesh("a.stl", model, folders) == place
    assert find_mesh(str(places[2]), model) == places[2]
    assert find_mesh(str(tmp_path / "gone.stl"), model, folders) is None
    assert find_mesh("gone.stl", model, folders) is None
    (tmp_path / "Geometry" / "deep").mkdir()
    Path(tmp_path / "Geometry" / "deep" / "b.obj").touch()
    assert find_mesh("deep\\b.obj", model) == tmp_path / "Geometry" / "deep" / "b.obj"
