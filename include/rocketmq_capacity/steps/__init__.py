"""The steps of a plan, each from the run's tables to the run's tables; what Spark apps and command line call."""
