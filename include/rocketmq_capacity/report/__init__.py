"""The last room: rows of the datasets in, report.html, plan.json, findings.csv and recommendations.csv out.

It knows neither Spark nor Airflow: rows come in as plain mappings, one sequence a dataset.
"""
