"""Sound under water between robots: the channel, and the parts that send and hear, one kind per file."""

NOT_KINDS = ("arrivals", "channel", "directions", "link_budget", "members", "paths", "settings", "travel_time")
