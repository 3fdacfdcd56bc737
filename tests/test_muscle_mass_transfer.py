"""Mass from bodies to muscles: what is conserved, what is affine, who gets it from whom, and what cannot be done."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, relative_error
from limbs import double_pendulum

import osim_inertia as oi
from osim_inertia.bone_lines import reference_pose
from osim_inertia.inertia import estimated_mass, with_only
from osim_inertia.model.frames import GROUND, Body

MODELS = sorted((DATA / "models").glob("*/*.osim"))
LIGHT = ("Arm26/arm26", "Gait10dof18musc/gait10dof18musc", "Leg39/leg39", "Gait2392_Simbody/gait2392_thelen2003muscle")
RAJAGOPAL = "Rajagopal/Rajagopal2016"
SMALL = {"arm26": {"r_humerus": 0.2}}  # a tip of one muscle lies along its forearm: too much to cut out of there
NO_DATA = [pytest.param(None, marks=pytest.mark.skip(reason="the shared reference data is not beside the project"))]

every_model = pytest.mark.parametrize("file", MODELS or NO_DATA, ids=lambda file: file.stem if file else "none")


def some_models(*names: str):
    files = [DATA / "models" / f"{name}.osim" for name in names]
    return pytest.mark.parametrize("file", files if MODELS else NO_DATA, ids=lambda f: f.stem if f else "none")


def random_state(system: oi.System, frames: int = 3, seed: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses near the reference one, so that no path runs through what it should wrap over."""
    rng = np.random.default_rng(seed)
    kinds = [system.model.coordinate(name).motion_type for name in system.coordinate_names]
    spread = [0.2 if kind == "rotational" else 0.01 for kind in kinds]
    q = reference_pose(system) + rng.uniform(-1.0, 1.0, (frames, system.n)) * spread
    return q, rng.normal(0.0, 2.0, q.shape), rng.normal(0.0, 20.0, q.shape)


def limb() -> oi.Model:
    """Two rods of 1 kg with a massless muscle from the first to the second."""
    points = (("rod1", (0.03, -0.1, 0.0)), ("rod2", (0.03, -0.1, 0.0)))
    return double_pendulum(points, muscle_mass=0.0)


# ---- conservation and linearity -------------------------------------------------------------------------------------
@every_model
def test_a_transfer_of_nothing_gives_the_skeleton_bit_for_bit(file):
    model = oi.read_osim(file)
    inertial = oi.with_muscle_mass(model, 0.0)
    assert inertial.bodies == model.bodies
    bones, system = oi.System(model), oi.System(inertial)
    state = random_state(bones)
    assert np.array_equal(system.inverse_dynamics(*state), bones.inverse_dynamics(*state))
    assert np.array_equal(system.mass_matrix(state[0]), bones.mass_matrix(state[0]))


@every_model
@pytest.mark.parametrize("fraction", [0.25, 0.8, 1.0])
def test_the_total_mass_stays(file, fraction):
    model = oi.read_osim(file)
    inertial = oi.with_muscle_mass(model, fraction)
    spec = inertial.muscle_mass
    assert inertial.mass == pytest.approx(model.mass, rel=1e-12)
    for body, share in spec.transfer:
        kg = sum(dict(muscle.taken_from).get(body, 0.0) for muscle in spec.muscles)
        assert kg == pytest.approx(share * model.body(body).mass, rel=1e-12)
        assert inertial.body(body).mass == pytest.approx((1.0 - share) * model.body(body).mass, rel=1e-12, abs=1e-15)
    assert {body for body, _ in spec.transfer} | set(spec.untouched) == {body.name for body in model.bodies}


@every_model
def test_forces_are_affine_in_the_fraction(file):
    assert_affine(oi.read_osim(file), {})


@some_models(*LIGHT, RAJAGOPAL)
@pytest.mark.parametrize("options", [{"map": "rigid-tendon"}, {"beads": 20}, {"belly": "whole"}], ids=str)
def test_forces_are_affine_in_the_fraction_however_matter_is_mapped(file, options):
    assert_affine(oi.read_osim(file), options)


def assert_affine(model: oi.Model, options: dict) -> None:
    state = random_state(oi.System(model))
    inertial = [oi.with_muscle_mass(model, fraction, **options) for fraction in (0.0, 0.4, 0.8)]
    none, some, twice = (oi.System(m).inverse_dynamics(*state) for m in inertial)
    assert relative_error(twice - some, some - none) < 1e-10
    assert inertial[2].muscle_mass.muscles == () or relative_error(some, none) > 1e-4  # something did change


@some_models("Arm26/arm26", "Gait10dof18musc/gait10dof18musc")
@pytest.mark.parametrize("residual", ["proportional", "consistent"])
def test_what_each_muscle_changes_adds_up_to_what_all_change(file, residual):
    model = oi.read_osim(file)
    inertial = oi.with_muscle_mass(model, SMALL.get(file.stem, 0.2), residual=residual)
    lumped = oi.System(model)
    state = random_state(lumped)
    before = lumped.inverse_dynamics(*state)
    names = [muscle.name for muscle in inertial.muscle_mass.muscles]
    each = [oi.System(with_only(model, inertial, [name])).inverse_dynamics(*state) - before for name in names]
    assert relative_error(np.sum(each, axis=0), oi.System(inertial).inverse_dynamics(*state) - before) < 1e-10
    assert with_only(model, inertial, names).mass == pytest.approx(model.mass, rel=1e-12)


# ---- who gets it from whom ------------------------------------------------------------------------------------------
def sources(model: oi.Model, **options: object) -> dict[str, set[str]]:
    spec = oi.with_muscle_mass(model, 0.5, **options).muscle_mass
    return {muscle.name: {body for body, _ in muscle.taken_from} for muscle in spec.muscles}


@some_models(RAJAGOPAL)
def test_gastrocnemius_takes_its_mass_from_the_tibia(file):
    """It starts on the femur and ends on the heel (METHOD.md §5)."""
    taken = sources(oi.read_osim(file))
    assert [taken[name] for name in ("gasmed_r", "gaslat_r", "gasmed_l")] == [{"tibia_r"}, {"tibia_r"}, {"tibia_l"}]
    assert taken["vasint_r"] == {"femur_r"}
    assert taken["glmed1_r"] == {"pelvis"}


@some_models("Gait2392_Simbody/gait2392_thelen2003muscle")
def test_thigh_muscles_lie_along_the_thigh_where_the_knee_is_a_function_of_its_angle(file):
    """The knee's frame on the femur is at the hip there; splines put the tibia where it belongs."""
    taken = sources(oi.read_osim(file))
    assert taken["semimem_r"] == taken["vas_int_r"] == {"femur_r"}
    assert taken["soleus_r"] == taken["med_gas_r"] == {"tibia_r"}
    assert taken["ercspn_r"] == {"torso", "pelvis"}


@some_models(RAJAGOPAL)
def test_muscles_share_a_body_in_proportion_to_their_volumes(file):
    model = oi.read_osim(file)
    spec = oi.with_muscle_mass(model, {"tibia_r": 0.8}).muscle_mass
    kg = {muscle.name: muscle.mass for muscle in spec.muscles}
    volume = {muscle.name: estimated_mass(muscle) for muscle in model.muscles}
    assert kg["soleus_r"] / kg["tibant_r"] == pytest.approx(volume["soleus_r"] / volume["tibant_r"], rel=1e-12)
    assert sum(kg.values()) == pytest.approx(0.8 * model.body("tibia_r").mass, rel=1e-12)
    assert set(spec.untouched) == {body.name for body in model.bodies} - {"tibia_r"}


def test_a_recipe_overrides_the_nearest_bone():
    halves = {"rod1": 1.0, "rod2": 3.0}
    spec = oi.with_muscle_mass(limb(), {"rod1": 0.5, "rod2": 0.5}, along={"muscle": halves}).muscle_mass
    assert dict(spec.muscles[0].taken_from) == {"rod1": 0.5, "rod2": 0.5}  # the fractions decide how much
    kg = oi.with_muscle_mass(limb(), "anatomical", {"muscle": 0.4}, along={"muscle": halves}).muscle_mass.muscles[0]
    assert dict(kg.taken_from) == pytest.approx({"rod1": 0.1, "rod2": 0.3})
    assert sources(limb(), along={"muscle": "rod2"}) == {"muscle": {"rod2"}}


def test_only_chosen_muscles_get_mass(shared_data):
    model = oi.read_osim(shared_data / "models" / "Arm26" / "arm26.osim")
    inertial = oi.with_muscle_mass(model, {"r_humerus": 0.5}, muscles=["BIClong", "TRIlat"])
    assert [muscle.name for muscle in inertial.muscle_mass.muscles] == ["TRIlat", "BIClong"]
    assert {row["muscle"] for row in oi.System(inertial).muscle_mass_table()} == {"TRIlat", "BIClong"}
    assert inertial.mass == pytest.approx(model.mass, rel=1e-12)


# ---- residual bones -------------------------------------------------------------------------------------------------
@some_models(*LIGHT, RAJAGOPAL)
def test_consistent_bones_and_frozen_muscles_are_the_bones_they_were(file):
    model = oi.read_osim(file)
    inertial = oi.with_muscle_mass(model, SMALL.get(file.stem, 0.2), residual="consistent")
    before, after = oi.System(model), oi.System(inertial)
    q = reference_pose(before)
    assert after.mass == pytest.approx(before.mass, rel=1e-12)
    np.testing.assert_allclose(after.center_of_mass(q), before.center_of_mass(q), atol=1e-12)
    poses = dict(zip(before.body_names, before.body_poses(q)[0]))
    for old, new in zip(model.bodies, inertial.bodies):
        moments = second_moments(new)
        for muscle in inertial.muscle_mass.muscles:
            part = dict(muscle.taken_from).get(old.name, 0.0)
            if part:
                points, masses = after.muscle_matter(q, muscle.name)
                r = np.column_stack([(points - poses[old.name][:3, 3]) @ poses[old.name][:3, :3], np.ones(len(points))])
                moments = moments + (r.T * masses * part / muscle.mass) @ r
        np.testing.assert_allclose(moments, second_moments(old), rtol=1e-11, atol=1e-12)


def second_moments(body: Body) -> np.ndarray:
    """(4, 4): ∫ (x, 1)(x, 1)ᵀ dm about the body's origin: mass, first and second moments at once."""
    xx, yy, zz, xy, xz, yz = body.inertia
    about_center = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c = np.array([*body.mass_center, 1.0])
    result = body.mass * np.outer(c, c)
    result[:3, :3] += 0.5 * np.trace(about_center) * np.eye(3) - about_center
    return result


def test_proportional_bones_keep_their_shape():
    old = limb().bodies[0]
    new = oi.with_muscle_mass(limb(), {"rod1": 0.75}).bodies[0]
    assert new == replace(old, mass=0.25, inertia=tuple(0.25 * value for value in old.inertia))


# ---- masses from tables ---------------------------------------------------------------------------------------------
TABLES = {
    "plain.csv": "TRIlong,1\nBIClong,3\n",
    "headed.csv": "muscle,mass\n# from a dissection\nTRIlong, 1\nBIClong, 3\n",
    "commented.csv": "# from a dissection\nmuscle,mass\n\nTRIlong,1e-1\nBIClong,0.3,right\n",
    "german.csv": "Muskel;kg\nTRIlong;0,1\nBIClong;0,3\n",
    "flat.toml": "TRIlong = 1\nBIClong = 3.0\n",
    "nested.toml": "[masses]\nTRIlong = 1\nBIClong = 3.0\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_masses_are_proportions_or_kilograms(name, tmp_path, shared_data):
    model = oi.read_osim(shared_data / "models" / "Arm26" / "arm26.osim")
    (tmp_path / name).write_text(TABLES[name])
    by_share = oi.with_muscle_mass(model, {"r_humerus": 0.5}, str(tmp_path / name)).muscle_mass
    kg = {muscle.name: muscle.mass for muscle in by_share.muscles}
    half = 0.5 * model.body("r_humerus").mass
    assert kg == pytest.approx({"TRIlong": 0.25 * half, "BIClong": 0.75 * half})
    small = {"TRIlong": 0.1, "BIClong": 0.3}
    in_kg = oi.with_muscle_mass(model, "anatomical", small).muscle_mass
    assert {muscle.name: muscle.mass for muscle in in_kg.muscles} == pytest.approx(small)


def test_a_table_may_name_muscles_that_were_not_chosen(shared_data):
    model = oi.read_osim(shared_data / "models" / "Arm26" / "arm26.osim")
    spec = oi.with_muscle_mass(model, {"r_humerus": 0.5}, {"BRA": 1.0, "TRIlong": 1.0}, muscles=["BRA"]).muscle_mass
    assert [muscle.name for muscle in spec.muscles] == ["BRA"]


@pytest.mark.parametrize(("name", "text", "words"), [
    ("m.csv", "TRIlong,1\nBIClong\n", "m.csv, line 2: This line does not hold a name and a mass."),
    ("m.csv", "TRIlong,1\nTRIlong,2\n", "Muscle 'TRIlong' is there twice"),
    ("m.csv", "muscle,mass\n", "The table of masses is empty"),
    ("m.csv", "muscle,mass\nTRIlong,x\n", "m.csv, line 2: This line does not hold a name and a mass."),
    ("m.toml", "TRIlong = \n", "This is not TOML"),
    ("m.toml", "[a]\nTRIlong = 1\n[b]\nTRIlong = 2\n", "Muscle 'TRIlong' is there twice"),
    ("m.toml", "TRIlong = true\n", "The mass of 'TRIlong' is not a number"),
    ("m.toml", "TRIlong = 'heavy'\n", "The mass of 'TRIlong' is not a number"),
    ("m.csv", "TRIlon,1\n", "names 'TRIlon', which is no muscle here. Did you mean 'TRIlong'?"),
    ("m.csv", "TRIlong,-1\n", "The mass of 'TRIlong' is -1.0; expected 0 or more."),
    ("m.csv", "TRIlong,nan\n", "The mass of 'TRIlong' is nan; expected 0 or more."),
])  # fmt: skip
def test_wrong_tables_are_explained(name, text, words, tmp_path, shared_data):
    model = oi.read_osim(shared_data / "models" / "Arm26" / "arm26.osim")
    (tmp_path / name).write_text(text)
    with pytest.raises(oi.OsimInertiaError, match=re.escape(words)):
        oi.with_muscle_mass(model, {"r_humerus": 0.5}, str(tmp_path / name))


def test_a_missing_table_is_named():
    with pytest.raises(oi.FileError, match=r"nowhere\.csv: The table of masses cannot be read"):
        oi.with_muscle_mass(limb(), 0.5, str(Path("nowhere.csv")))


# ---- requests that cannot be met ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("transfer", "options", "words"), [
    ({"rod3": 0.5}, {}, "There is no body 'rod3'. Did you mean 'rod2'?"),
    ({"rod1": 1.2}, {}, "The fraction for body 'rod1' is 1.2; expected 0 to 1."),
    ({"rod1": float("nan")}, {}, "The fraction for body 'rod1' is nan"),
    (-0.1, {}, "The fraction for all bodies is -0.1; expected 0 to 1."),
    (1.5, {"muscles": []}, "The fraction for all bodies is 1.5"),
    ("half", {}, "transfer is 'half'; expected a fraction"),
    ({"rod2": 0.5}, {"along": {"muscle": "rod1"}}, "No muscle lies along body 'rod2'"),
    ({"rod1": 0.5}, {"masses": {"muscle": 0.0}}, "No muscle lies along body 'rod1'"),
    (0.5, {"muscles": ["musle"]}, "There is no muscle 'musle' with a geometric path. Did you mean 'muscle'?"),
    (0.5, {"masses": {"soleus": 1.0}}, "The table of masses names 'soleus', which is no muscle here."),
    ("anatomical", {"masses": {"muscle": 9.0}}, "weigh"),
    (0.5, {"map": "elastic"}, "map is 'elastic'; expected one of uniform, rigid-tendon."),
    (0.5, {"residual": "none"}, "residual is 'none'"),
    (0.5, {"wrap": "neural net"}, "wrap is 'neural net'"),
    (0.5, {"beads": 0}, "beads is 0; expected 1 or more"),
    (0.5, {"blend": 0.0}, "blend is 0.0"),
    (0.5, {"tendon_split": 1.5}, "tendon_split is 1.5"),
    (0.5, {"belly": "fat"}, "belly is 'fat'"),
    (0.5, {"belly": (0.8, 0.2)}, "belly is (0.8, 0.2); expected two shares of the path"),
    (0.5, {"belly": "whole", "map": "rigid-tendon"}, "the belly is what the tendons leave"),
    (0.5, {"along": {"musle": "rod1"}}, "`along` names 'musle', which is no muscle here."),
    (0.5, {"along": {"muscle": "rod"}}, "`along` names body 'rod', which is not there."),
    (0.5, {"along": {"muscle": {"rod1": 0.0}}}, "The share of 'muscle' along body 'rod1' is 0.0"),
    ({"rod1": 1.0}, {"residual": "consistent", "along": {"muscle": "rod1"}}, "Nothing is left of body 'rod1'"),
    ({"rod1": 0.9}, {"residual": "consistent", "along": {"muscle": "rod1"}},
     "Cutting the muscles out of body 'rod1' leaves an inertia that no body can have"),
])  # fmt: skip
def test_requests_that_cannot_be_met_are_explained(transfer, options, words):
    with pytest.raises(oi.OsimInertiaError, match=re.escape(words)):
        oi.with_muscle_mass(limb(), transfer, **options)


def test_mass_cannot_be_given_twice():
    with pytest.raises(oi.ModelError, match="have mass already; start from the original model"):
        oi.with_muscle_mass(oi.with_muscle_mass(limb(), 0.5), 0.5)


def test_a_massless_body_has_nothing_to_give():
    model = limb()
    model = replace(model, bodies=(replace(model.bodies[0], mass=0.0), model.bodies[1]))
    with pytest.raises(oi.ModelError, match="takes the mass of 'muscle' from body 'rod1', which has none"):
        oi.with_muscle_mass(model, "anatomical", {"muscle": 0.1}, along={"muscle": "rod1"})


def test_a_muscle_without_fibres_is_named():
    model = limb()
    muscle = replace(model.path_forces[0], optimal_fiber_length=0.0)
    with pytest.raises(oi.ModelError, match="Muscle 'muscle' has fibres of 0 m"):
        oi.with_muscle_mass(replace(model, path_forces=(muscle,)), 0.5)


def test_tendons_longer_than_the_path_are_named_at_the_default_pose():
    model = limb()
    muscle = replace(model.path_forces[0], tendon_slack_length=2.0)
    with pytest.raises(oi.ModelError, match="the path of 'muscle' is shorter than its tendons"):
        oi.with_muscle_mass(replace(model, path_forces=(muscle,)), 0.2, map="rigid-tendon", residual="consistent")


def test_a_muscle_fixed_to_ground_alone_takes_nothing():
    points = (("ground", (0.1, 0.0, 0.0)), ("ground", (0.3, 0.0, 0.0)))
    model = double_pendulum(points, muscle_mass=0.0)
    assert model.path_forces[0].geometry.points[0].frame == GROUND
    inertial = oi.with_muscle_mass(model, 0.5)
    assert inertial.bodies == model.bodies
    assert inertial.muscle_mass.muscles == ()
