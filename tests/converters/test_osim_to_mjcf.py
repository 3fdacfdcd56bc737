"""OSIM -> MJCF: MuJoCo's own reader and kinematics against ours; fitted functions keep to the error they state."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, relative_error

import osim_inertia as oi
from osim_inertia.model.joints import EllipsoidJoint, ScapulothoracicJoint

mujoco = pytest.importorskip("mujoco")

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "converters" / "osim_to_mjcf.py"
ZOO = ROOT / "models" / "zoo"
TOLERANCE = 1e-9
REACH = 2.5  # m: no body origin or path point of any model is farther from a joint that carries it
OPENSIM_DETOUR = 5e-4  # m: OpenSim's paths over a cylinder are not quite the shortest
CARRIER_INERTIA = 1e-6  # kg m², as the README says
POSES = 12
EXACT_JOINTS = ("pin", "slider", "universal", "gimbal", "planar", "ball", "free", "weld")
MODELS = sorted((DATA / "models").glob("*/*.osim")) if DATA.is_dir() else []
needs_data = pytest.mark.skipif(not MODELS, reason="the shared reference data is not beside the project")


def run(*words: object) -> subprocess.CompletedProcess:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@dataclass
class Pair:
    """A model in both worlds. Rows of MuJoCo's joints follow from the coordinates by the report's own functions."""

    model: oi.Model
    report: dict
    mj: object

    @cached_property
    def system(self) -> oi.System:
        return oi.System(self.model, like_opensim=False)

    @cached_property
    def data(self) -> object:
        return mujoco.MjData(self.mj)

    @property
    def exact(self) -> bool:
        return all(drive["error"] < 1e-12 for drive in self.report["driven"])

    @property
    def position_bound(self) -> float:
        """m: what all fits together can do to a point."""
        return sum(drive["error"] * (1.0 if drive["unit"] == "m" else REACH) for drive in self.report["driven"])

    @property
    def rotation_bound(self) -> float:
        return sum(drive["error"] for drive in self.report["driven"] if drive["unit"] == "rad")

    def id(self, kind: str, name: str) -> int:
        found = mujoco.mj_name2id(self.mj, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), name)
        assert found >= 0, f"MuJoCo's model has no {kind} {name}"
        return found

    def poses(self) -> np.ndarray:
        """Random, within ranges, couplers satisfied, away from gimbal lock."""
        rng = np.random.default_rng(5)
        coordinates = [self.model.coordinate(name) for name in self.system.coordinate_names]
        low = [max(q.range[0], q.default_value - 1.2) for q in coordinates]
        high = [max(min(q.range[1], q.default_value + 1.2), a) for q, a in zip(coordinates, low)]
        q = rng.uniform(low, high, (POSES, self.system.n))
        couplers = [x for x in self.model.constraints if type(x).__name__ == "CoordinateCoupler"]
        return self.system.constraints.project_q(q) if couplers else q

    def joint_motion(self, q: np.ndarray, rate: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of MuJoCo's joints: positions, their Jacobian (nv, n) by the coordinates, accelerations at constant rates."""
        names = self.system.coordinate_names
        position, J, bend = np.zeros(self.mj.nq), np.zeros((self.mj.nv, len(names))), np.zeros(self.mj.nv)
        for i, name in enumerate(names):
            if self.report["coordinates"].get(name) == name:
                joint = self.id("joint", name)
                position[joint], J[joint, i] = q[i], 1.0
        for drive in self.report["driven"]:
            if drive["joint"] in names:
                continue  # a coupler between coordinates; q keeps to it
            joint, at = self.id("joint", drive["joint"]), [names.index(name) for name in drive["coordinates"]]
            if len(at) > 1:
                position[joint] = drive["terms"][0] + np.dot(drive["terms"][1:], q[at])
                J[joint, at] += drive["terms"][1:]
                continue
            polynomial = np.polynomial.Polynomial(drive["terms"])
            position[joint] = polynomial(q[at[0]])
            J[joint, at[0]] = polynomial.deriv()(q[at[0]])
            bend[joint] = polynomial.deriv(2)(q[at[0]]) * rate[at[0]] ** 2
        return position, J, bend

    def forward(self, q: np.ndarray, rate: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        rate = np.zeros_like(q) if rate is None else rate
        self.data.qpos[:], J, bend = self.joint_motion(q, rate)
        self.data.qvel[:] = J @ rate
        mujoco.mj_forward(self.mj, self.data)
        return J, bend


def converted(path: Path, folder: Path) -> Pair:
    """By the script, read by MuJoCo."""
    done = run(path, "-o", folder / "model.xml", "--json")
    assert done.returncode == 0, done.stderr
    return read_back(path, folder, done.stdout)


def converted_here(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Pair:
    """The same without a process of its own: the zoo is large."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    assert importlib.import_module(SCRIPT.stem).main([str(path), "-o", str(folder / "model.xml"), "--json"]) == 0
    return read_back(path, folder, capsys.readouterr().out)


def read_back(path: Path, folder: Path, report: str) -> Pair:
    return Pair(oi.read_osim(path), json.loads(report), mujoco.MjModel.from_xml_path(str(folder / "model.xml")))


@pytest.fixture
def zoo(tmp_path, monkeypatch, capsys):
    return lambda name: converted_here(ZOO / f"{name}_40000.osim", tmp_path, monkeypatch, capsys)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo may leave a log where it runs


# ---- checks that every model goes through -------------------------------------------------------------------------
def check_bodies(pair: Pair, slack: float = 0.0) -> None:
    for q in pair.poses():
        pair.forward(q)
        for X, name in zip(pair.system.body_poses(q)[0], pair.system.body_names):
            body = pair.id("body", name)
            assert np.linalg.norm(pair.data.xpos[body] - X[:3, 3]) <= pair.position_bound + slack + TOLERANCE, name
            apart = np.abs(pair.data.xmat[body].reshape(3, 3) - X[:3, :3]).max()
            assert apart <= pair.rotation_bound + TOLERANCE, name


def check_markers(pair: Pair, slack: float = 0.0) -> None:
    q = pair.poses()[0]
    pair.forward(q)
    for x, name in zip(pair.system.marker_positions(q)[0], pair.system.marker_names):
        site = pair.data.site_xpos[pair.id("site", name)]
        assert np.linalg.norm(site - x) <= pair.position_bound + slack + TOLERANCE, name


def check_dynamics(pair: Pair) -> None:
    """Mass matrix and bias force by the coordinates' rates; ours are by u, which for ball joints is not that."""
    system, n, rng = pair.system, pair.system.n, np.random.default_rng(6)
    carried = np.array([f"carrier_of_{name}" in [pair.mj.body(i).name for i in range(pair.mj.nbody)]
                        for name in system.coordinate_names])  # fmt: skip
    for q in pair.poses():
        rate = rng.uniform(-1.0, 1.0, n)
        J, bend = pair.forward(q, rate)
        M = np.zeros((pair.mj.nv, pair.mj.nv))
        mujoco.mj_fullM(pair.mj, pair.data, M)
        E = np.array([system.speeds(q, unit)[0][0] for unit in np.eye(n)]).T  # u = E q̇
        ours = E.T @ system.mass_matrix(q)[0] @ E
        assert relative_error(J.T @ M @ J - np.diag(carried * CARRIER_INERTIA), ours) < TOLERANCE
        u, udot = system.speeds(q, rate, np.zeros(n))
        force = E.T @ system.inverse_dynamics(q, u[0], udot[0])[0]
        assert relative_error(J.T @ (M @ bend + pair.data.qfrc_bias), force) < TOLERANCE


def check_tendons(pair: Pair) -> None:
    """Straight ones are equal; wrapped ones are the shortest path; changed ones are off by no more than stated."""
    errors = pair.report["path_errors"]
    for q in pair.poses():
        pair.forward(q)
        shortest, opensim = (pair.system.path_lengths(q, paths=kind)[0] for kind in ("shortest", "opensim"))
        for i, force in enumerate(pair.model.path_forces):
            length = pair.data.ten_length[pair.id("tendon", force.name)]
            bound = 2.0 * pair.position_bound + TOLERANCE
            if force.name not in errors:
                assert abs(length - shortest[i]) <= bound, force.name
            else:  # the stated error is that of other poses
                detour = OPENSIM_DETOUR if force.geometry.wraps else 0.0
                assert abs(length - opensim[i]) <= 2.0 * errors[force.name] + detour + bound, force.name


def check_default_pose(pair: Pair) -> None:
    if not pair.mj.nkey:
        return
    mujoco.mj_resetDataKeyframe(pair.mj, pair.data, 0)
    mujoco.mj_kinematics(pair.mj, pair.data)
    q = pair.system.default_pose()
    if any(type(x).__name__ == "CoordinateCoupler" for x in pair.model.constraints):
        followers = {x.dependent for x in pair.model.constraints if type(x).__name__ == "CoordinateCoupler"}
        free = [name not in followers for name in pair.system.coordinate_names]
        q = np.where(free, q, pair.system.constraints.project_q(q)[0])
    for X, name in zip(pair.system.body_poses(q)[0], pair.system.body_names):
        assert np.linalg.norm(pair.data.xpos[pair.id("body", name)] - X[:3, 3]) <= pair.position_bound + 1e-6, name


# ---- models of the reference data ---------------------------------------------------------------------------------
@needs_data
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_reference_model_is_the_same_in_mujoco_or_says_how_not(path, tmp_path):
    pair = converted(path, tmp_path)
    assert pair.mj.body_mass.sum() == pytest.approx(pair.model.mass + pair.report["added_mass"], rel=1e-12)
    assert pair.report["added_mass"] <= 1e-9 * pair.mj.nbody
    assert pair.mj.opt.gravity == pytest.approx(pair.model.gravity)
    check_bodies(pair)
    check_markers(pair)
    check_tendons(pair)
    check_default_pose(pair)
    stories = " ".join(pair.report["not_the_same"])
    if pair.exact and "moments of inertia" not in stories and "has no mass" not in stories:
        check_dynamics(pair)
    text = (tmp_path / "model.xml").read_text()
    assert all(story.replace("--", "- -") in _unescaped(text) for story in pair.report["not_the_same"])


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


@needs_data
def test_bound_joints_stay_bound_while_mujoco_simulates(tmp_path):
    pair = converted(DATA / "models" / "Gait10dof18musc" / "gait10dof18musc.osim", tmp_path)
    mujoco.mj_resetDataKeyframe(pair.mj, pair.data, 0)
    for _ in range(100):
        mujoco.mj_step(pair.mj, pair.data)
    assert np.isfinite(pair.data.qpos).all()
    moved = np.abs(pair.data.qpos - pair.mj.key_qpos[0]).max()
    assert moved > 0.05  # it falls
    names = [pair.mj.joint(i).name for i in range(pair.mj.njnt)]
    for drive in pair.report["driven"]:
        x = pair.data.qpos[names.index(drive["coordinates"][0])]
        expected = np.polyval(drive["terms"][::-1], x)
        assert pair.data.qpos[names.index(drive["joint"])] == pytest.approx(expected, abs=2e-4), drive["joint"]


# ---- the zoo: every joint, reversed, custom, in loops -------------------------------------------------------------
@pytest.mark.parametrize("name", [
    *(f"joint_{kind}" for kind in EXACT_JOINTS), *(f"reversed_{kind}" for kind in ("pin", "ball", "free", "planar")),
    "reversed_custom", "custom_constants", "custom_constant_first", "custom_oblique", "custom_two_coordinates",
    "custom_two_rotations_of_one",
    "function_linear", "function_polynomial", "frames_nested", "tree_breadth_first", "tree_welded", "loop_four_bar",
    "loop_weld", "constraint_coupler_of_two",
])  # fmt: skip
def test_exact_joints_are_exact_in_motion_and_dynamics(name, zoo):
    pair = zoo(name)
    assert pair.exact
    check_bodies(pair)
    check_dynamics(pair)
    check_default_pose(pair)


@pytest.mark.parametrize("name", ["function_simm_spline", "function_sine", "function_step", "doc_defaults"])
def test_fitted_functions_stay_within_the_error_they_state(name, zoo):
    pair = zoo(name)
    assert not pair.exact
    assert any("fitted by a quartic" in story for story in pair.report["not_the_same"])
    check_bodies(pair)


@pytest.mark.parametrize("name", ["joint_ellipsoid", "joint_scapulothoracic", "reversed_ellipsoid"])
def test_ellipsoid_joints_turn_exactly_and_slide_on_a_sphere(name, zoo):
    pair = zoo(name)
    joint = next(x for x in pair.model.joints if isinstance(x, EllipsoidJoint | ScapulothoracicJoint))
    radii = joint.radii if isinstance(joint, EllipsoidJoint) else joint.thoracic_ellipsoid_radii
    off = 2.0 * float(np.abs(np.array(radii) - np.mean(radii)).max())
    check_bodies(pair, slack=off)
    check_default_pose(pair)
    assert any("sphere" in story for story in pair.report["not_the_same"])


def test_a_body_without_mass_gets_next_to_none(zoo):
    pair = zoo("tree_massless")
    assert pair.report["added_mass"] == pytest.approx(1e-9)
    assert any("has no mass" in story for story in pair.report["not_the_same"])
    check_bodies(pair)


@pytest.mark.parametrize("name", ["constraint_weld", "constraint_point", "constraint_distance", "loop_four_bar"])
def test_constraints_hold_in_mujoco_where_they_hold_here(name, zoo):
    pair = zoo(name)
    q = pair.system.constraints.project_q(pair.system.default_pose())[0]
    pair.forward(q)
    rows = pair.data.efc_pos[pair.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    if name == "constraint_distance":  # a tendon between limits
        low, high = pair.mj.tendon_range[0]
        assert low - 1e-9 <= pair.data.ten_length[0] <= high + 1e-9
    else:
        assert len(rows) >= 3
        assert np.abs(rows).max() < 1e-8
        pair.forward(q + 0.05)
        assert np.abs(pair.data.efc_pos).max() > 1e-4  # and it can fail


@pytest.mark.parametrize("name", ["path_points", "path_wraps"])
def test_paths_of_every_kind(name, zoo):
    pair = zoo(name)
    check_tendons(pair)
    told = " ".join(pair.report["not_the_same"])
    words = ("counts", "default pose", "Ligament") if name == "path_points" else ("WrapEllipsoid", "WrapTorus")
    assert all(word in told for word in words)


def test_the_shipped_leg_is_all_the_same(tmp_path):
    pair = converted(ROOT / "models" / "leg11dof4musc" / "leg11dof4musc.osim", tmp_path)
    assert pair.report["not_the_same"] == []
    check_bodies(pair)
    check_markers(pair)
    check_dynamics(pair)
    check_tendons(pair)
    for muscle in pair.model.muscles:  # MuJoCo's rigid tendon and fibre have OpenSim's lengths
        actuator = pair.mj.actuator(muscle.name)
        low, high = actuator.lengthrange
        fibre = (high - low) / (actuator.gainprm[1] - actuator.gainprm[0])
        assert fibre == pytest.approx(muscle.optimal_fiber_length * np.cos(muscle.pennation_angle))
        assert low - actuator.gainprm[0] * fibre == pytest.approx(muscle.tendon_slack_length)
        assert actuator.gainprm[2] == pytest.approx(muscle.max_isometric_force * np.cos(muscle.pennation_angle))


# ---- words --------------------------------------------------------------------------------------------------------
def test_bad_input_is_refused_in_words_and_nothing_is_written(tmp_path):
    leg = ROOT / "models" / "leg11dof4musc" / "leg11dof4musc.osim"
    (tmp_path / "bad.osim").write_text("<OpenSimDocument")
    (tmp_path / "mine.xml").write_text(leg.read_text())
    wishes = [["missing.osim"], ["bad.osim"], ["mine.xml"], [leg, "-o", "no/such/folder/leg.xml"]]
    for words in wishes:
        done = run(*words)
        assert done.returncode == 1, words
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.osim", "mine.xml"]


def test_help_has_examples_and_plain_output_lists_what_is_not_the_same(tmp_path):
    assert "examples:" in run("--help").stdout
    done = run(ZOO / "path_points_40000.osim", "-o", tmp_path / "paths.xml")
    assert done.returncode == 0
    assert "not the same in MuJoCo" in done.stdout
    assert "path of" in done.stdout


def test_the_script_says_what_it_needs():
    tomllib = pytest.importorskip("tomllib")
    head = SCRIPT.read_text().partition("# /// script\n")[2].partition("# ///\n")[0]
    needs = tomllib.loads("".join(line.removeprefix("#").removeprefix(" ") for line in head.splitlines(keepends=True)))
    assert needs["dependencies"] == ["osim-inertia"]
    assert (SCRIPT.parent / needs["tool"]["uv"]["sources"]["osim-inertia"]["path"]).resolve() == ROOT
