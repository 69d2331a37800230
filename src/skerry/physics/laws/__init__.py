"""Forces on bodies, one kind of law per file."""
