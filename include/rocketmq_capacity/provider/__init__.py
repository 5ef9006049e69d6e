"""What Airflow needs to know of the plan; the only room that imports Airflow, and none that imports Spark."""
