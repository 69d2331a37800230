"""Materials: shipped and user-defined, by name, and in the hits of rays."""

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError, UnknownName
from skerry.rays import Bundle
from skerry.terrain.materials import MATERIALS, find_material

BOX = {"geometry": {"kind": "box", "size": [2, 2, 2]}, "pose": {"position": [5, 0, -5]}}
GROUND = {"kind": "flat", "depth": 10}


def materials_hit(scenario):
    with skerry.load(scenario) as world:
        view = world.ray_scene.view()
        hits = view.cast(Bundle([[1, 0, 0], [0, 0, -1]]), skerry.core.frames.Pose([0, 0, -5], [0, 0, 0, 1]), 100.0)
        return [view.materials[number] for number in hits.material]


def test_hits_contain_the_material_and_colour():
    box, ground = materials_hit(
        {"objects": {"box": {**BOX, "material": "wood", "colour": [1, 0, 0]}}, "terrain": GROUND}
    )
    assert (box.name, box.colour) == ("wood", (1, 0, 0))
    assert (ground.name, ground.colour) == ("sand", MATERIALS["sand"].colour)


def test_a_scenario_may_have_materials_of_its_own_before_the_shipped_ones():
    own = {"coral": {"backscatter_db": -15, "label": 5}, "sand": {"backscatter_db": -3}}
    scenario = {"materials": own, "objects": {"box": {**BOX, "material": "coral"}}, "terrain": GROUND}
    box, ground = materials_hit(scenario)
    assert (box.material.backscatter_db, box.material.label) == (-15, 5)
    assert ground.material.backscatter_db == -3


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"objects": {"box": {**BOX, "material": "rok"}}}, "objects.box.material: there is no material 'rok'.*'rock'"),
        ({"terrain": {**GROUND, "material": "sandd"}}, "terrain.material: there is no material 'sandd'.*'sand'"),
        (
            {
                "terrain": {
                    "kind": "heightfield",
                    "size": [4, 4],
                    "array": [[0, 0], [0, 0]],
                    "material_map": [[1]],
                    "materials": ["mud", "grvel"],
                }
            },
            "terrain.materials.1: there is no material 'grvel'.*'gravel'",
        ),
        ({"materials": {"glue": {"colour": [2, 0, 0]}}}, "materials.glue.colour"),
        ({"materials": {"glue": {"texture": "furry"}}}, "materials.glue.texture"),
    ],
)
def test_a_wrong_material_is_an_error_at_load_that_names_the_setting(scenario, words):
    with pytest.raises(SkerryError, match=words):
        skerry.load(scenario)


def test_an_unknown_name_may_have_a_fallback():
    assert find_material("sam_yellow", instead="hull", colour=(1, 1, 0)).name == "hull"
    with pytest.raises(UnknownName, match="'rope'"):
        find_material("roope")


def test_every_shipped_material_has_plausible_values():
    for name, material in MATERIALS.items():
        assert -40 <= material.backscatter_db <= 0, name
        assert 0 < material.reflectance < 1, name
        assert np.ptp(material.colour) < 1, name
