"""Services between latitude and longitude and the UTM grid, always in the zone of the scenario's reference."""

from __future__ import annotations

from skerry.core.errors import SkerryError
from skerry.core.geo import Projection
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message


def offer_conversions(bus: Bus, projection: Projection, to_utm: str, to_lat_lon: str) -> None:
    """Offer a smarc_msgs/LatLonToUTM and a smarc_msgs/UTMToLatLon; heights go through as they are."""

    def find_utm(request: Message) -> Message:
        point = request.lat_lon_point
        local = projection.from_geodetic([_latitude(point.latitude), point.longitude, point.altitude])
        x, y, z = projection.to_utm(local).tolist()
        return bus.codec.make("smarc_msgs/srv/LatLonToUTM_Response", utm_point={"x": x, "y": y, "z": z})

    def find_lat_lon(request: Message) -> Message:
        point = request.utm_point
        local = projection.from_utm([point.x, point.y, point.z])
        latitude, longitude, altitude = projection.to_geodetic(local).tolist()
        place = {"latitude": latitude, "longitude": longitude, "altitude": altitude}
        return bus.codec.make("smarc_msgs/srv/UTMToLatLon_Response", lat_lon_point=place)

    bus.offer(to_utm, "smarc_msgs/LatLonToUTM", find_utm)
    bus.offer(to_lat_lon, "smarc_msgs/UTMToLatLon", find_lat_lon)


def _latitude(latitude_deg: float) -> float:
    if not -90.0 <= latitude_deg <= 90.0:
        raise SkerryError(f"a latitude is from −90° to 90°, not {latitude_deg}")
    return latitude_deg
