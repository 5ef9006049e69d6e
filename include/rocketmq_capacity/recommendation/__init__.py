"""The smallest safe change for each finding: simulated before it is named, checked before a command is written."""
