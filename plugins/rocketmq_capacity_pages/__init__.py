"""The pages that the plugin adds to Airflow: lists, trends, differences, and the reports themselves.

They are rendered on the server and have no scripts. Nothing here writes: every route is a GET or a HEAD.
"""
