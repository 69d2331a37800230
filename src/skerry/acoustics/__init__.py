"""Sound under water between robots: the channel, and the parts that send and hear, one kind per file."""
