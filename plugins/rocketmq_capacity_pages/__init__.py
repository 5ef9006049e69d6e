"""The pages that the plugin adds to Airflow: lists, trends, differences, and the reports themselves.

Rendered on the server and free of scripts. Nothing here writes: every route is a GET or a HEAD.
"""
