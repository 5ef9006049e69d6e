"""The plugin: Airflow's pages of reports, and who may see them."""
