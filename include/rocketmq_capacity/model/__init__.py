"""What the code thinks in: the facts of a unit as observed, a group's queues and consumers as arrays, cases."""
