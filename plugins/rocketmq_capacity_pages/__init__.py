"""The pages that the plugin adds to Airflow: lists, trends, differences, and the reports themselves.

They are rendered on the server and have no scripts. Every route is a GET or a HEAD and writes nothing, except one: it
starts the run that accepts a risk.
"""
