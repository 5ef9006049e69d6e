"""The changes that a scenario can make, one module each; new ones are found automatically."""
