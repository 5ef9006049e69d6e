"""The steps of a plan. Each reads the run's tables and writes to them. Spark apps and the command line call them."""
