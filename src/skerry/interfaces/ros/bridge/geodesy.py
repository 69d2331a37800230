"""Services that convert between latitude and longitude and UTM, in the zone of the scenario's reference."""

from __future__ import annotations

from skerry.core.errors import SkerryError
from skerry.core.geo import Projection
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message


class GeodesyFeature(Feature):
    """Adds the conversion services of the profile for each robot, if the scenario has a reference."""

    def add_robot(self, robot: BridgedRobot) -> None:
        row, projection = robot.profile.conversions, self.context.frames.projection
        if row is not None and projection is not None:
            names = (row.lat_lon_to_utm, row.utm_to_lat_lon)
            add_conversions(self.bus, projection, *(robot.topic("", name) for name in names))


def add_conversions(bus: Bus, projection: Projection, to_utm: str, to_lat_lon: str) -> None:
    """Add a smarc_msgs/LatLonToUTM and a smarc_msgs/UTMToLatLon service; heights are not changed."""

    def find_utm(request: Message) -> Message:
        point = request.lat_lon_point
        local = projection.from_geodetic([_latitude(point.latitude), point.longitude, point.altitude])
        x, y, z = projection.to_utm(local).tolist()
        return bus.codec.make("smarc_msgs/srv/LatLonToUTM_Response", utm_point={"x": x, "y": y, "z": z})

    def find_lat_lon(request: Message) -> Message:
        point = request.utm_point
        local = projection.from_utm([point.x, point.y, point.z])
        latitude, longitude, altitude = projection.to_geodetic(local).tolist()
        position = {"latitude": latitude, "longitude": longitude, "altitude": altitude}
        return bus.codec.make("smarc_msgs/srv/UTMToLatLon_Response", lat_lon_point=position)

    bus.add_service(to_utm, "smarc_msgs/LatLonToUTM", find_utm)
    bus.add_service(to_lat_lon, "smarc_msgs/UTMToLatLon", find_lat_lon)


def _latitude(latitude_deg: float) -> float:
    if not -90.0 <= latitude_deg <= 90.0:
        raise SkerryError(f"the latitude is {latitude_deg}; it must be between −90° and 90°")
    return latitude_deg
