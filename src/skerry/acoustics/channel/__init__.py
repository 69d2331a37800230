"""The acoustic channel: propagation paths, travel times, link budget and delivery of sound."""
