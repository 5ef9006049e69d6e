"""The last room: rows of the datasets in, the files that people read out; and lists and comparisons of those files.

It knows neither Spark nor Airflow nor Arrow: rows come in as what their contracts say, one sequence a dataset.
"""
