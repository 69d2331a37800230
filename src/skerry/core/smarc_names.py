"""Names of the SMaRC Unity simulator and the names of Skerry for the same things, for guesses in error messages.

Keys are lower case without separators, so that `Num Buckets Per Beam`, `NumBucketsPerBeam` and `num_buckets_per_beam`
are the same name. If a name has several meanings, the one that is known at the place of the error is suggested.
"""

from __future__ import annotations

from collections.abc import Collection

_NAMES = {
    # kinds
    "sidescansonar sss": "sidescan",
    "forwardlookingsonar": "fls",
    "multibeam multibeamechosounder": "mbes",
    "sonar": "sidescan fls mbes",
    "cameraimage": "camera",
    "depthpressure": "pressure",
    "lockeddirectiondepthsensor lockeddepth": "locked_direction_depth",
    "rangesensor": "range_receiver",
    "gnss": "gps",
    "groundtruthodometry": "odometry",
    "tx acoustictransceiver acousticreceiver acoustictransmitter": "transceiver",
    "forcepoint forcepoints": "force_points",
    "slide piston lcg": "prismatic",
    "prop": "propeller",
    "dronecontroller dronegeometrictracking": "geometric_tracking",
    "staticfield forcefield": "fields",
    "bodyfixedlink linkname attachedto": "link",
    # force points
    "waterdensity fluiddensity": "density",
    "volumeobject volumemesh": "mesh",
    "maxbuoyancyforce": "max_buoyancy",
    "addgravity": "gravity",
    "underwaterdragcoefficient": "underwater_drag",
    # water
    "includeatmopressure includeatmosphericpressure includeatmospressure includeatmosphericpressureinkpa": (
        "include_atmosphere"
    ),
    # visualizer
    "conetipposition": "cone_tip",
    # sonars
    "numbucketsperbeam": "buckets",
    "isinterferometric": "interferometric",
    "multgain": "gain",
    "addnoisestd addgaussiannoisestd useadditivenoise": "range_noise noise_sigma",
    "addnoisemean": "range_noise_mean noise_mean",
    "beambreadthdeg beambreadth": "beam_breadth_deg",
    "beambreadth3decibelsdeg beambreadth3db": "beam_breadth_3db_deg",
    "numraysperbeam raysperbeam numrays": "rays_per_beam",
    "numbeams beamcount": "beams",
    "tilt tiltangledeg": "tilt_deg",
    "fov flsfovdeg": "fov_deg horizontal_fov_deg",
    "maxrange maxraycastdistance": "max_range",
    # ray viewer
    "rayviewer": "viewer",
    "raymaterial": "ray_colour",
    "hitssize hitsize": "hits_size",
    # DVL
    "minhitstoreport minimumhits": "minimum_hits",
    "anglefromvertical": "janus_angle_deg",
    "rotationoffset": "rotation_offset_deg",
    # other sensors
    "gpsreferencepoint": "reference",
    "withgravity": "with_gravity",
    "sensingdirection": "direction",
    "senderobject": "senders",
    "playmodepreview": "preview",
    "textureheight imageheight": "height",
    "texturewidth imagewidth": "width",
    "dischargepercentperminute": "discharge_percent_per_minute",
    # acoustics
    "soundvelocity soundvel": "sound_speed",
    "enableechoing": "echoing",
    "bottomfiringopeningangle": "bottom_opening_angle_deg",
    "bottomfiringresolution": "bottom_resolution",
    "singlegroundecho": "single_bottom_echo bottom_echoes",
    "workinair": "work_in_air",
    "terraingo": "terrain",
    # actuators
    "rpmtoforcemultiplier": "rpm_to_force",
    "rpmmax maxrpm": "maximum_rpm",
    "minrpm rpmmin": "minimum_rpm",
    "anglemax maxangle": "maximum maximum_angle",
    "resetvalue": "reset_value",
    "maxvolume maxvolumel": "volume",
    "expectedfreq expectedfrequency": "expected_frequency",
    "controlfreq controlfrequency freq": "frequency",
    # ropes
    "ropediameter": "diameter",
    "ropelength totallength": "length rope_length",
    "gramspermeter": "mass_per_metre",
    "buoygrams": "buoy",
    "ropecollisiondiameter": "collision_diameter",
    "ropetightnesstolerance": "tightness_tolerance",
    "ropecolor ropecolour": "colour",
    "winchspeed": "speed maximum_speed",
    "minlength": "minimum_length",
    "spring": "stiffness spring",
    "damper": "damping",
    "maxforce": "maximum_force",
    "hangingload load": "end",
    "vehicleropelinkname": "start",
    # drone
    "trackingtargettf trackingtarget dronetarget": "target",
    "attackthebuoy": "swoop_to_rope",
    # ROS
    "rosip": "host",
    "rosport": "port",
    "connectonstartup": "ros",
}

SMARC_NAMES = {smarc: names.split() for words, names in _NAMES.items() for smarc in words.split()}
"""Names of Skerry by names of SMaRC."""


def from_smarc(name: str, known: Collection[str]) -> str | None:
    """Return the known name for a name of SMaRC, or None."""
    plain = "".join(letter for letter in name.casefold() if letter.isalnum())
    return next((word for word in SMARC_NAMES.get(plain, ()) if word in known), None)
