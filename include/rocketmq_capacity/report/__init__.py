"""The last room: rows of the datasets in, the files that people read out; and lists and comparisons of those files.

It knows neither Spark nor Airflow: rows come in as plain mappings, one sequence a dataset.
"""
