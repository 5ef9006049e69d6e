"""The smallest safe change for each finding: simulated before it is recommended, and its commands checked."""
