"""Groups of a ForceSet: read, written, and excluded from inverse dynamics as OpenSim's tool excludes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import osim_inertia as oi
from osim_inertia.cli.id import job_of, run_job
from osim_inertia.model.forces import ForceGroup
from osim_inertia.setup import forces_left_out

ZOO = Path(__file__).resolve().parents[1] / "models" / "zoo"
SPRING = ('<SpringGeneralizedForce name="{0}"><coordinate>{1}</coordinate><stiffness>50</stiffness>'
          "<rest_length>0.3</rest_length></SpringGeneralizedForce>")  # fmt: skip
GROUP = '<groups><ObjectGroup name="soft"><members>hip knee</members></ObjectGroup></groups>'


def write_trial(folder: Path, groups: str, excluded: str) -> oi.Model:
    """A chain with two springs, hip and knee, its motion, and setup.xml that excludes some."""
    text = (ZOO / "joint_gimbal_40000.osim").read_text()
    names = [c.name for c in oi.read_osim(ZOO / "joint_gimbal_40000.osim").coordinates]
    springs = SPRING.format("hip", names[0]) + SPRING.format("knee", names[1])
    end = text.index("</Model>")
    assert "<ForceSet" not in text
    model = folder / "model.osim"
    model.write_text(f"{text[:end]}<ForceSet><objects>{springs}</objects>{groups}</ForceSet>{text[end:]}")
    time = np.arange(40) * 0.02
    oi.write_table(oi.Table(tuple(names), time, 20.0 * np.sin(np.outer(time, np.arange(1, len(names) + 1))), True),
                   folder / "motion.mot")
    (folder / "setup.xml").write_text(
        '<OpenSimDocument Version="40000"><InverseDynamicsTool name="t"><model_file>model.osim</model_file>'
        "<coordinates_file>motion.mot</coordinates_file><time_range>0 0.7</time_range>"
        f"<forces_to_exclude>{excluded}</forces_to_exclude><output_gen_force_file>id.sto</output_gen_force_file>"
        "</InverseDynamicsTool></OpenSimDocument>")
    return oi.read_osim(model)


@pytest.mark.oracle
@pytest.mark.parametrize(("groups", "excluded", "left_out", "unknown"), [
    ("", "hip knee", [], ""),
    ("", "hip", ["SpringGeneralizedForce (1)"], ""),
    ("", "Hip", ["SpringGeneralizedForce (2)"], "no force called Hip"),  # names are case-sensitive, keywords are not
    (GROUP, "soft", [], ""),
    (GROUP, "hip knee", ["SpringGeneralizedForce (2)"], "no group of forces called hip, knee"),
    (GROUP, "all", [], ""),
])  # fmt: skip
def test_what_is_excluded_is_what_opensim_excludes(tmp_path, monkeypatch, groups, excluded, left_out, unknown):
    opensim = pytest.importorskip("opensim")
    model = write_trial(tmp_path, groups, excluded)
    summary = run_job(job_of(tmp_path / "setup.xml"))
    ours = oi.read_table(tmp_path / "id.sto")
    monkeypatch.chdir(tmp_path)
    opensim.Logger.setLevelString("off")
    opensim.InverseDynamicsTool("setup.xml").run()
    springs = np.abs(ours.values - oi.read_table(tmp_path / "id.sto").values).max(axis=0)
    assert forces_left_out(model, excluded.split()) == left_out
    # ours is without springs in every case: OpenSim differs exactly where the note says that it applies some
    count = int(left_out[0].split("(")[1][0]) if left_out else 0
    assert (springs > 1.0).sum() == count
    assert (springs < 1e-5).sum() == len(springs) - count
    text = " ".join(summary["notes"])
    assert ("OpenSim applies them" in text) is bool(left_out)
    assert unknown in text
    assert ("forces_to_exclude: " in text) is bool(unknown)


def test_groups_survive_osim_and_json_files(tmp_path):
    model = write_trial(tmp_path, GROUP, "")
    assert model.force_groups == (ForceGroup(name="soft", members=("hip", "knee")),)
    oi.write_osim(model, tmp_path / "again.osim")
    oi.write_model(model, tmp_path / "again.json")
    assert oi.read_osim(tmp_path / "again.osim").force_groups == model.force_groups
    assert oi.read_model(tmp_path / "again.json").force_groups == model.force_groups


@pytest.mark.oracle
def test_opensim_finds_the_groups_that_were_written(tmp_path):
    opensim = pytest.importorskip("opensim")
    oi.write_osim(write_trial(tmp_path, GROUP, ""), tmp_path / "again.osim")
    opensim.Logger.setLevelString("off")
    model = opensim.Model(str(tmp_path / "again.osim"))  # kept: its set does not live longer
    assert model.getForceSet().getNumGroups() == 1
    model.initSystem()
    members = model.getForceSet().getGroup(0).getMembers()
    assert members.getSize() == 2
