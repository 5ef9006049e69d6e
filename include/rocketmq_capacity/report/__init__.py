"""Makes the files that people read from the rows of the datasets, and lists and compares these files.

It uses neither Spark nor Airflow nor Arrow: rows come in as objects, one sequence for each dataset.
"""
