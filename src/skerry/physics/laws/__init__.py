"""Laws: forces on links and joints, one kind per file."""
